import { callsAtOnce } from '../caller.ts';
import type { Check } from '../check.ts';
import { describe, difference, isSameAnswer } from '../heard.ts';
import { eachOf } from '../trial.ts';

export const check: Check = {
  id: 'concurrent-calls',
  group: 'Load',
  level: 'must',
  asks: `${callsAtOnce} calls at once are all answered in time, each as when called alone.`,
  why: 'After a restart Cluster API reconciles all Clusters at once and does not limit its calls.',
  remedy: 'share no state between calls; limit the cost of a call rather than the number of calls',
  async run({ answering, second, isSteady, call, discover, discovery }, report) {
    const handlers = await answering();
    if (discovery.heard.kind !== 'answer') {
      return { because: 'Discovery has no answer' };
    }
    const turns = Array.from({ length: callsAtOnce }, (_, index) => handlers[index % Math.max(handlers.length, 1)]);
    const failed = new Set<string>();
    await eachOf(turns, callsAtOnce, async (handler) => {
      const heard = handler === undefined ? (await discover()).heard : await call(handler);
      const alone = handler === undefined ? discovery.heard : await second(handler);
      const name = handler?.name ?? 'Discovery';
      const isSame =
        heard.kind === 'answer' &&
        (handler?.hook.isBlocking === true
          ? alone.kind === 'answer' && alone.response.status === heard.response.status
          : isSameAnswer(alone, heard) || (handler !== undefined && !(await isSteady(handler))));
      if (!isSame && !failed.has(name)) {
        failed.add(name);
        const message =
          heard.kind === 'answer'
            ? `among ${callsAtOnce} calls ${difference(alone, heard)}`
            : `among ${callsAtOnce} calls it ${describe(heard)}`;
        report({ ...(handler && { handler: handler.name }), message });
      }
    });
    return undefined;
  },
};
