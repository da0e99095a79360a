import { type Check, ofAnswering } from '../check.ts';
import { describe, difference, isBlocking, isSameAnswer } from '../heard.ts';

export const check: Check = {
  id: 'repeatable',
  group: 'Answers',
  level: 'must',
  asks: 'The same call twice has the same answer; one that blocked may go on.',
  why: 'Any call may come again after it succeeded: another handler blocked, the controller restarted, a write after the call failed.',
  remedy: 'make handlers idempotent: look at what is, and answer from the request alone',
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
