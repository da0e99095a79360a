import { type Check, ofAnswering } from '../check.ts';
import { shownMessage } from '../heard.ts';

export const check: Check = {
  id: 'success',
  group: 'Answers',
  level: 'should',
  asks: 'The test request is answered with Success.',
  why: 'A Failure is a valid answer, but then the checks of a success have nothing to check.',
  remedy: 'pass a request that the extension can process: --request FILE',
  run(trial, report) {
    const { first } = trial;
    return ofAnswering(trial, async (handler) => {
      const heard = await first(handler);
      if (heard.kind === 'answer' && heard.response.status === 'Failure') {
        const said = shownMessage(heard);
        report({
          handler: handler.name,
          message: `answers Failure${said === '' ? ' without a message' : `: ${said}`}`,
        });
      }
    });
  },
};
