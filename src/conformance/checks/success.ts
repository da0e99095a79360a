import { type Check, ofAnswering } from '../check.ts';
import { shownMessage } from '../heard.ts';

export const check: Check = {
  id: 'success',
  group: 'Answers',
  level: 'should',
  asks: 'The request of the trial is answered with Success.',
  why: 'A Failure is a correct answer, but the checks of what a success holds then look at nothing.',
  remedy: 'give a request that the extension can work on: --request FILE',
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
