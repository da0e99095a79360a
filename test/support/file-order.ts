import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that run first, in this order: files that take long, with those that mostly wait (for timeouts, leases,
 * connections that drain) between those that compute, so that the CPU is always busy; files that only compute come
 * last. Vitest remembers how long files took, but not how much of it they waited, and nothing across an `npm ci`. A
 * file missing from this list only costs time.
 */
const first = [
  'test/package/pack.test.ts',
  'test/extension/sdk/process.test.ts',
  'test/docs/commands/sandbox.test.ts',
  'test/package/release.test.ts',
  'test/cli/commands/certs.test.ts',
  'test/controller/workers/discover.test.ts',
  'test/checks/conformance/checks.test.ts',
  'test/docs/commands/extension-tutorial.test.ts',
  'test/package/image.test.ts',
  'test/controller/election/leader-election.test.ts',
  'test/docs/commands/rehearse.test.ts',
  'test/docs/commands/runtime-hooks.test.ts',
  'test/cli/commands/sandbox/kubectl.test.ts',
  'test/cli/commands/sandbox/overlays.test.ts',
  'test/cli/commands/credential-plugins.test.ts',
  'test/docs/commands/cluster.test.ts',
  'test/cli/commands/unwritable-log.test.ts',
  'test/checks/conformance/hostile.test.ts',
  'test/checks/rehearsal/extensions.test.ts',
  'test/runtimehooks/client/calls.test.ts',
  'test/extension/sdk/http2.test.ts',
  'test/e2e/faults.test.ts',
  'test/controller/many.test.ts',
  'test/e2e/kubectl.test.ts',
  'test/cli/commands/serve.test.ts',
  'test/cli/commands/openapi-merge.test.ts',
  'test/cli/commands/lint.test.ts',
  'test/server/connections/connections.test.ts',
  'test/sandbox/aggregation/aggregation.test.ts',
  'test/sandbox/webhooks/admission.test.ts',
  'test/e2e/extension.test.ts',
  'test/kubernetes/client/secrets/secret-watch.test.ts',
  'test/checks/conformance/sample.test.ts',
  'test/server/reload.test.ts',
  'test/sandbox/http/kubectl-wire.test.ts',
  'test/cli/commands/sandbox/process.test.ts',
  'test/e2e/cluster-facts.test.ts',
  'test/e2e/environment.test.ts',
  'test/package/launch.test.ts',
  'test/server/rotation.test.ts',
  'test/cli/commands/html-pages.test.ts',
  'test/runtimehooks/messages/openapi.test.ts',
  'test/cli/commands/sandbox/extension.test.ts',
  'test/kubernetes/cel/cel-budget.test.ts',
  'test/kubernetes/client/requests/kubernetes-client.test.ts',
  'test/sandbox/reads/watches.test.ts',
  'test/policy/admission/worst.test.ts',
  'test/webhook/certs/own-ca.test.ts',
  'test/webhook/reviews/side-thread.test.ts',
  'test/sandbox/semantics.test.ts',
  'test/cli/commands/discover.test.ts',
  'test/kubernetes/manifests/build.test.ts',
  'test/server/server.test.ts',
  'test/server/certificates/files.test.ts',
  'test/extensionconfig/api/decode.test.ts',
  'test/extension/sdk/http.test.ts',
  'test/kubernetes/manifests/kubectl-yaml.test.ts',
  'test/server/connections/limits.test.ts',
  'test/runtimehooks/client/exchange/body.test.ts',
  'test/e2e/aggregation.test.ts',
  'test/cli/commands/controller.test.ts',
  'test/webhook/certs/killed.test.ts',
  'test/cli/framework/log.test.ts',
  'test/sandbox/openapi-documents/merge.test.ts',
  'test/checks/rehearsal/output.test.ts',
  'test/cli/commands/sandbox/loop.test.ts',
  'test/base/x509/issue.test.ts',
  'test/server/requests/client-policy.test.ts',
  'test/cli/commands/signals.test.ts',
  'test/cli/commands/lint-facts.test.ts',
  'test/cli/commands/sandbox/sandbox.test.ts',
  'test/kubernetes/schema/work-limits.test.ts',
  'test/sandbox/http/captures.test.ts',
  'test/e2e/rotation.test.ts',
  'test/extension/sample/sample.test.ts',
  'test/architecture/regular-expressions.test.ts',
  'test/controller/workers/advise.test.ts',
  'test/kubernetes/client/watches/informer.test.ts',
];

/** Starts the files of the list above first, and the others in Vitest's own order. */
export class FileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = first.findIndex((path) => moduleId.endsWith(`/${path}`));
      return index < 0 ? first.length : index;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
