import { type Check, ofAnswering } from '../check.ts';
import { describe, difference, isBlocking, isSameAnswer } from '../heard.ts';

export const check: Check = {
  id: 'repeatable',
  group: 'Answers',
  level: 'must',
  asks: 'The same call gets the same answer twice, unless it blocked the first time.',
  why: 'Any call may be repeated after it succeeded: because another handler blocked, the controller restarted, or a write after the call failed.',
  remedy: 'make handlers idempotent: check the current state, and derive the answer only from the request',
  run(trial, report) {
    const { first, second } = trial;
    return ofAnswering(trial, async (handler) => {
      const [one, other] = [await first(handler), await second(handler)];
      if (other.kind !== 'answer') {
        report({ handler: handler.name, message: `called again, it ${describe(other)}` });
      } else if (
        isBlocking(one)
          ? one.kind === 'answer' && one.response.status !== other.response.status
          : !isSameAnswer(one, other)
      ) {
        report({ handler: handler.name, message: difference(one, other) });
      }
    });
  },
};
