import type { Check } from '../check.ts';
import { shownMessage } from '../heard.ts';

export const check: Check = {
  id: 'success',
  group: 'Answers',
  level: 'should',
  asks: 'The request of the trial is answered with Success.',
  why: 'A Failure is a correct answer, but the checks of what a success holds then look at nothing.',
  remedy: 'give a request that the extension can work on: --request FILE',
  async run({ answering, first }, report) {
    const handlers = await answering();
    if (handlers.length === 0) {
      return { because: 'no handler answers' };
    }
    for (const handler of handlers) {
      const heard = await first(handler);
      if (heard.kind === 'answer' && heard.response.status === 'Failure') {
        const said = shownMessage(heard);
        report({
          handler: handler.name,
          message: `answers Failure${said === '' ? ' without a message' : `: ${said}`}`,
        });
      }
    }
    return undefined;
  },
};
