import { eachOf } from '../../../base/index.ts';
import { quotable } from '../../../runtimehooks/client/index.ts';
import type { Check } from '../check.ts';
import { describe, difference, isFailure, isSuccess } from '../outcome.ts';
import { type CheckedHandler, concurrentCalls } from '../trial.ts';

/** The checks of calls as Cluster API makes them, and of their addresses. */
export const callChecks: readonly Check[] = [
  {
    id: 'answers-calls',
    level: 'must',
    requirement:
      'Every handler answers a call as Cluster API sends it: HTTP 200, JSON, fields of the right types, the status Success or Failure, at most 2 MiB.',
    reason: 'Anything else is a failed call: the reconcile fails and is retried, and Clusters wait.',
    remedy: 'answer failures with 200 too, with status Failure and a message; check the types of the fields',
    async run({ handlers }, report) {
      for (const handler of handlers) {
        const outcome = await handler.first();
        if (outcome.response !== undefined && !isSuccess(outcome) && !isFailure(outcome)) {
          report(`the status is ${JSON.stringify(quotable(String(outcome.response.status ?? ''), 60))}`, handler);
        }
        // Timeouts, and servers that need a Content-Type, are reported by other checks.
        if (outcome.error === undefined || outcome.error.step === 'timeout') {
          continue;
        }
        const typed = outcome.error.step === 'http' ? await handler.call({ withContentType: true }) : undefined;
        if (typed?.response === undefined) {
          report(describe(outcome), handler);
        }
      }
      return handlers.length === 0 ? 'no handler is called' : undefined;
    },
  },
  {
    id: 'timeouts-kept',
    level: 'must',
    requirement:
      'Every handler answers within the timeoutSeconds that it asked for, and preferably in less than half of that.',
    reason: 'A call that is not answered in time fails; one that is almost late fails on a busier machine.',
    remedy:
      'answer at once, do long work in the background and answer with retryAfterSeconds; apply the timeout in the query to the calls that the handler makes',
    async run({ handlers }, report) {
      for (const handler of handlers) {
        const { timeoutSeconds } = handler;
        const outcome = await handler.first();
        if (outcome.error?.step === 'timeout') {
          report(`did not answer within ${timeoutSeconds} seconds`, handler);
          continue;
        }
        const again = outcome.error === undefined ? await handler.second() : outcome;
        const ms = Math.min(outcome.ms, again.ms);
        if (again.error?.step === 'timeout') {
          report(`called again, it did not answer within ${timeoutSeconds} seconds`, handler);
        } else if (ms > timeoutSeconds * 500) {
          report(`takes ${(ms / 1000).toFixed(1)} of its ${timeoutSeconds} seconds`, handler, true);
        }
      }
      return handlers.length === 0 ? 'no handler is called' : undefined;
    },
  },
  {
    id: 'content-type',
    level: 'must',
    requirement: 'A call without a Content-Type gets the same answer as one with application/json.',
    reason: 'Cluster API sends no Content-Type: body parsers that expect one see an empty body or reject the request.',
    remedy: 'parse every body as JSON, whatever its type (in Express: express.json({ type: () => true }))',
    async run({ handlers, discovery, discovered: { outcome } }, report) {
      const typedDiscovery = await discovery.call({ withContentType: true });
      if (outcome.error !== undefined && typedDiscovery.error === undefined) {
        report(`Discovery without a Content-Type ${describe(outcome)}`);
      }
      for (const handler of handlers) {
        const bare = await handler.second();
        if (bare.error !== undefined && bare.error.step !== 'http') {
          continue;
        }
        const typed = await handler.call({ withContentType: true });
        if (bare.error !== undefined && typed.error === undefined) {
          report(`without a Content-Type it ${describe(bare)}`, handler);
        } else if (bare.error === undefined && (await handler.isAffectedBy(typed))) {
          report(`with and without a Content-Type ${difference(bare, typed)}`, handler);
        }
      }
      return handlers.length === 0 && outcome.error !== undefined ? 'nothing answers' : undefined;
    },
  },
];

/** The checks of many calls at once. */
export const loadChecks: readonly Check[] = [
  {
    id: 'concurrent-calls',
    level: 'must',
    requirement: `${concurrentCalls} calls at once are all answered in time, each as when called alone.`,
    reason: 'After a restart Cluster API reconciles all Clusters at once and does not limit its calls.',
    remedy: 'share no state between calls; limit the cost of a call rather than the number of calls',
    needsDiscovery: true,
    async run({ answering, discovery }, report) {
      const handlers = await answering();
      const callees = handlers.length === 0 ? [discovery] : handlers;
      for (const callee of callees) {
        await callee.second();
      }
      const turns = Array.from({ length: concurrentCalls }, (_, at) => callees[at % callees.length] ?? discovery);
      const outcomes = await eachOf(turns, concurrentCalls, async (callee) => ({
        callee,
        outcome: await callee.call(),
      }));
      const failed = new Set<CheckedHandler>();
      for (const { callee, outcome } of outcomes) {
        if (!failed.has(callee) && (outcome.error !== undefined || (await callee.isAffectedBy(outcome)))) {
          failed.add(callee);
          const what =
            outcome.error === undefined ? difference(await callee.second(), outcome) : `it ${describe(outcome)}`;
          report(`among ${concurrentCalls} calls ${what}`, callee);
        }
      }
    },
  },
];
