import { eachOf } from '../../../base/index.ts';
import { areSameHandlers } from '../../../runtimehooks/client/index.ts';
import type { Check } from '../check.ts';
import { describe, isSuccess, shownMessage } from '../outcome.ts';

/** Number of additional, concurrent discoveries. */
const concurrentDiscoveries = 10;

/** The checks of what extensions offer. */
export const discoveryChecks: readonly Check[] = [
  {
    id: 'discovery-valid',
    level: 'must',
    requirement: 'Discovery returns only handlers that Cluster API accepts.',
    reason: 'A single invalid handler makes Cluster API refuse the whole extension.',
    remedy:
      'if nothing answers, start the server (a Service outside of your cluster needs --resolve, unless its ExtensionConfig is read from the cluster); if handlers are invalid, correct them: "discover" explains each problem',
    async run({ discovered: { outcome, problems } }, report) {
      if (!isSuccess(outcome)) {
        const message = shownMessage(outcome);
        report(`Discovery ${describe(outcome)}${message === '' ? '' : `: ${message}`}`);
      }
      for (const { handler, message } of problems) {
        report(message, { name: handler });
      }
    },
  },
  {
    id: 'discovery-stable',
    level: 'must',
    requirement: 'Discovery returns the same handlers every time, even when called several times at once.',
    reason:
      'Each discovery replaces the registered handlers: if one is missing once, all calls to it fail until the next discovery.',
    remedy: 'offer the same handlers in all replicas and at all times, even while the server starts',
    async run({ discovery, discovered, read }, report) {
      if (!isSuccess(discovered.outcome)) {
        return 'Discovery gave no answer to compare with';
      }
      const others = await eachOf(Array.from({ length: concurrentDiscoveries }), concurrentDiscoveries, () =>
        discovery.call(),
      );
      const failed = others.find((outcome) => !isSuccess(outcome));
      if (failed !== undefined) {
        report(`asked ${concurrentDiscoveries} times at once, Discovery ${describe(failed)}`);
      } else if (!others.every((outcome) => areSameHandlers(read(outcome).handlers, discovered.handlers))) {
        report('the handlers are not the same each time');
      }
      return undefined;
    },
  },
];
