import { eachOf } from '../../../base/index.ts';
import { areSameHandlers, handlerFindings } from '../../../runtimehooks/client/index.ts';
import { advisedTimeoutSeconds } from '../../../runtimehooks/index.ts';
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
    id: 'discovery-complete',
    level: 'must',
    requirement: 'Discovery offers handlers, each is served at its path, and in-place hooks have one handler each.',
    reason:
      'A handler that is offered but not served fails every reconcile; two handlers for an in-place hook make all in-place decisions fail.',
    remedy: 'serve each handler at /GROUP/VERSION/HOOK/NAME, in lower case and below the path of the clientConfig',
    needsDiscovery: true,
    async run({ discovered, handlers }, report) {
      if (discovered.handlers.length === 0) {
        report('there are no handlers', undefined, true);
      }
      const inPlace = new Map<string, string>();
      for (const { name, requestHook } of discovered.handlers) {
        const handler = { name: name.slice(0, name.lastIndexOf('.')) };
        const { apiVersion, hook } = requestHook;
        const key = `${apiVersion.split('/')[0]} ${hook}`;
        const other = /^(?:CanUpdate|UpdateMachine)/.test(hook) ? inPlace.get(key) : undefined;
        if (other !== undefined) {
          report(`${other} serves ${hook} too; Cluster API accepts only one handler for it`, handler);
        }
        inPlace.set(key, handler.name);
      }
      for (const handler of handlers) {
        const { code } = (await handler.first()).error ?? {};
        if (code === 404 || code === 405) {
          report(`is offered, but its path answers HTTP ${code}`, handler);
        }
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
  {
    id: 'discovery-advice',
    level: 'should',
    requirement:
      'Handlers ask for timeouts of at most 10 seconds, hooks that can block have the failurePolicy Fail, and no version is deprecated.',
    reason:
      'A reconcile has one minute for all its handlers; with Ignore, operations that should wait go ahead during an outage.',
    remedy: 'do long work in the background and answer with retryAfterSeconds; use Fail unless the work may be skipped',
    async run({ discovered: { handlers }, known }, report) {
      for (const { handler = '', message } of handlerFindings(handlers, known, advisedTimeoutSeconds)) {
        report(message, { name: handler });
      }
      return handlers.length === 0 ? 'Discovery offers no handlers' : undefined;
    },
  },
];
