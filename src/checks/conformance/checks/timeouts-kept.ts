import type { Check } from '../check.ts';

export const check: Check = {
  id: 'timeouts-kept',
  group: 'Calls',
  level: 'must',
  asks: 'Every handler answers within the timeoutSeconds that it asked for, and preferably in less than half of that.',
  why: 'A call that is not answered in time fails; one that is almost late fails on a busier machine.',
  remedy:
    'answer at once, do long work in the background and answer with retryAfterSeconds; apply the timeout in the query to the calls that the handler makes',
  async run({ handlers, first, second }, report) {
    if (handlers.length === 0) {
      return { because: 'no handler is called' };
    }
    for (const handler of handlers) {
      const { name, timeoutSeconds } = handler;
      const heard = await first(handler);
      if (heard.kind === 'failed' && heard.error.step === 'timeout') {
        report({ handler: name, message: `did not answer within ${timeoutSeconds} seconds` });
        continue;
      }
      const again = heard.kind === 'answer' ? await second(handler) : heard;
      if (again.kind === 'failed' && again.error.step === 'timeout') {
        report({ handler: name, message: `called again, it did not answer within ${timeoutSeconds} seconds` });
      } else if (Math.min(heard.ms, again.ms) > timeoutSeconds * 500) {
        const took = (Math.min(heard.ms, again.ms) / 1000).toFixed(1);
        report({ handler: name, message: `takes ${took} of its ${timeoutSeconds} seconds`, isWarning: true });
      }
    }
    return undefined;
  },
};
