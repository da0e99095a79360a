import { eachOf } from '../../each-of.ts';
import { concurrentCalls } from '../caller.ts';
import type { Check } from '../check.ts';
import { describe, difference, isSameOutcome } from '../outcome.ts';

/** The checks of many calls at once. */
export const loadChecks: readonly Check[] = [
  {
    id: 'concurrent-calls',
    level: 'must',
    requirement: `${concurrentCalls} calls at once are all answered in time, each as when called alone.`,
    reason: 'After a restart Cluster API reconciles all Clusters at once and does not limit its calls.',
    remedy: 'share no state between calls; limit the cost of a call rather than the number of calls',
    needsDiscovery: true,
    async run({ answering, second, isBlamed, call, discover, discovery }, report) {
      const handlers = await answering();
      for (const handler of handlers) {
        await second(handler);
      }
      const turns = Array.from({ length: concurrentCalls }, (_, at) => handlers[at % Math.max(handlers.length, 1)]);
      const outcomes = await eachOf(turns, concurrentCalls, async (handler) => ({
        handler,
        outcome: handler === undefined ? (await discover()).outcome : await call(handler),
      }));
      const failed = new Set<string>();
      for (const { handler, outcome } of outcomes) {
        const name = handler?.name ?? 'Discovery';
        const alone = handler === undefined ? discovery.outcome : await second(handler);
        const differs =
          outcome.error !== undefined ||
          (handler === undefined ? !isSameOutcome(alone, outcome) : await isBlamed(handler, outcome));
        if (differs && !failed.has(name)) {
          failed.add(name);
          const what = outcome.error === undefined ? difference(alone, outcome) : `it ${describe(outcome)}`;
          report({ ...(handler && { handler: name }), message: `among ${concurrentCalls} calls ${what}` });
        }
      }
      return undefined;
    },
  },
];
