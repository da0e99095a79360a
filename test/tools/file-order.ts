import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * What runs first, in this order: files that take long, and those that mostly wait (for timeouts, leases, connections that
 * drain) between those that compute, so that the processor always has work; what only computes is left for the end. Vitest
 * remembers how long files took, but not what they waited, and nothing over an `npm ci`. A file that is missing here costs
 * time only.
 */
const first = [
  'test/package/pack.test.ts',
  'test/controller/leader-election.test.ts',
  'test/docs/commands/readme.test.ts',
  'test/controller/discover.test.ts',
  'test/commands/certs.test.ts',
  'test/conformance/checks.test.ts',
  'test/docs/commands/sandbox.test.ts',
  'test/docs/commands/extension-tutorial.test.ts',
  'test/runtime/calls.test.ts',
  'test/package/image.test.ts',
  'test/rehearsal/extensions.test.ts',
  'test/docs/commands/runtime-hooks.test.ts',
  'test/commands/serve.test.ts',
  'test/docs/commands/certificates.test.ts',
  'test/docs/commands/rehearse.test.ts',
  'test/cluster/cluster.test.ts',
  'test/conformance/sample.test.ts',
  'test/commands/lint.test.ts',
  'test/e2e/environment.test.ts',
  'test/controller/many.test.ts',
  'test/e2e/faults.test.ts',
  'test/conformance/hostile.test.ts',
  'test/extension/http2.test.ts',
  'test/docs/commands/conformance.test.ts',
  'test/server/connections.test.ts',
  'test/commands/openapi-merge.test.ts',
  'test/server/rotation.test.ts',
  'test/commands/sandbox/process.test.ts',
  'test/commands/sandbox/kubectl.test.ts',
  'test/server/reload.test.ts',
  'test/e2e/extension.test.ts',
  'test/sandbox/http/kubectl-wire.test.ts',
  'test/messages/openapi.test.ts',
  'test/sandbox/webhooks/admission.test.ts',
  'test/server/files.test.ts',
  'test/sandbox/reads/watches.test.ts',
  'test/e2e/rotation.test.ts',
  'test/cluster/informer.test.ts',
  'test/sandbox/cel/cel-budget.test.ts',
  'test/cluster/secret-watch.test.ts',
  'test/webhook/side-thread.test.ts',
  'test/server/server.test.ts',
  'test/server/limits.test.ts',
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
