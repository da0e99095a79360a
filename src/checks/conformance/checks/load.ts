import { eachOf } from '../../../base/index.ts';
import { concurrentCalls } from '../caller.ts';
import type { Check } from '../check.ts';
import { describe, difference } from '../outcome.ts';
import type { CheckedHandler } from '../trial.ts';

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
