import { quotable } from '../../../runtimehooks/client/index.ts';
import { type Check, ofAnswering } from '../check.ts';

export const check: Check = {
  id: 'known-status',
  group: 'Answers',
  level: 'must',
  asks: 'Every answer has the status Success or Failure.',
  why: 'Any other status, or none, is an error for Cluster API ("got unknown response status").',
  remedy: 'set status in every answer, spelled Success or Failure',
  run(trial, report) {
    const { first } = trial;
    return ofAnswering(trial, async (handler) => {
      const heard = await first(handler);
      const status = heard.kind === 'answer' ? heard.response.status : undefined;
      if (status !== 'Success' && status !== 'Failure') {
        report({
          handler: handler.name,
          message: `the status is ${JSON.stringify(quotable(String(status ?? ''), 60))}`,
        });
      }
    });
  },
};
