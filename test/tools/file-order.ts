import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that run first, in this order: files that take long, with those that mostly wait (for timeouts, leases,
 * connections that drain) between those that compute, so that the CPU is always busy; files that only compute come
 * last. Vitest remembers how long files took, but not how much of it they waited, and nothing across an `npm ci`. A
 * file missing from this list only costs time.
 */
const first = [
  'test/lint-and-types.test.ts',
  'test/package/pack.test.ts',
  'test/docs/commands/sandbox.test.ts',
  'test/commands/certs.test.ts',
  'test/controller/workers/discover.test.ts',
  'test/conformance/checks.test.ts',
  'test/docs/commands/extension-tutorial.test.ts',
  'test/package/image.test.ts',
  'test/controller/election/leader-election.test.ts',
  'test/docs/commands/rehearse.test.ts',
  'test/docs/commands/runtime-hooks.test.ts',
  'test/commands/sandbox/kubectl.test.ts',
  'test/docs/commands/cluster.test.ts',
  'test/conformance/hostile.test.ts',
  'test/rehearsal/extensions.test.ts',
  'test/runtime/calls.test.ts',
  'test/extension/http2.test.ts',
  'test/e2e/faults.test.ts',
  'test/controller/many.test.ts',
  'test/e2e/kubectl.test.ts',
  'test/commands/serve.test.ts',
  'test/commands/openapi-merge.test.ts',
  'test/commands/lint.test.ts',
  'test/server/connections/connections.test.ts',
  'test/sandbox/aggregation/aggregation.test.ts',
  'test/sandbox/webhooks/admission.test.ts',
  'test/e2e/extension.test.ts',
  'test/cluster/secrets/secret-watch.test.ts',
  'test/conformance/sample.test.ts',
  'test/server/reload.test.ts',
  'test/sandbox/http/kubectl-wire.test.ts',
  'test/commands/sandbox/process.test.ts',
  'test/e2e/cluster-facts.test.ts',
  'test/e2e/environment.test.ts',
  'test/package/launch.test.ts',
  'test/server/rotation.test.ts',
  'test/commands/html-pages.test.ts',
  'test/messages/openapi.test.ts',
  'test/commands/sandbox/extension.test.ts',
  'test/cel/cel-budget.test.ts',
  'test/cluster/requests/cluster.test.ts',
  'test/sandbox/reads/watches.test.ts',
  'test/admission/worst.test.ts',
  'test/certs/own-ca.test.ts',
  'test/webhook/side-thread.test.ts',
  'test/sandbox/semantics.test.ts',
  'test/commands/discover.test.ts',
  'test/manifests/build.test.ts',
  'test/server/server.test.ts',
  'test/server/certificates/files.test.ts',
  'test/api/decode.test.ts',
  'test/compile-cache.test.ts',
  'test/extension/http.test.ts',
  'test/manifests/kubectl-yaml.test.ts',
  'test/server/connections/limits.test.ts',
  'test/runtime/exchange/body.test.ts',
  'test/e2e/aggregation.test.ts',
  'test/commands/controller.test.ts',
  'test/certs/killed.test.ts',
  'test/cli/log.test.ts',
  'test/openapi/merge.test.ts',
  'test/rehearsal/output.test.ts',
  'test/commands/sandbox/loop.test.ts',
  'test/x509/issue.test.ts',
  'test/server/requests/client-policy.test.ts',
  'test/commands/signals.test.ts',
  'test/commands/lint-context.test.ts',
  'test/commands/sandbox/sandbox.test.ts',
  'test/schema/work-limits.test.ts',
  'test/sandbox/http/captures.test.ts',
  'test/e2e/rotation.test.ts',
  'test/sample/sample.test.ts',
  'test/architecture/regular-expressions.test.ts',
  'test/controller/workers/advise.test.ts',
  'test/cluster/watches/informer.test.ts',
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
