import { quotable } from '../../../runtimehooks/client/index.ts';
import { messageProblems } from '../../../runtimehooks/messages/index.ts';
import { type Check, ofAnswering } from '../check.ts';
import { isSuccess } from '../heard.ts';

export const check: Check = {
  id: 'known-fields',
  group: 'Answers',
  level: 'should',
  asks: 'Answers have all required fields of the hook, and none that it does not define.',
  why: 'Cluster API silently ignores unknown fields, so a misspelt one is lost (even the book has boostrapConfigPatch).',
  remedy: 'compare with "hooks HOOK"; answer retryAfterSeconds: 0 when there is nothing to wait for',
  run(trial, report) {
    const { first } = trial;
    return ofAnswering(trial, async (handler) => {
      const heard = await first(handler);
      if (!isSuccess(heard)) {
        return;
      }
      const { group, version, response } = handler.hook;
      const typed = { ...heard.response, apiVersion: `${group}/${version}`, kind: response.kind };
      for (const { field, message } of messageProblems(handler.hook, 'response', typed, 'strict')) {
        report({ handler: handler.name, message: `${quotable(field, 100)} ${quotable(message, 200)}` });
      }
    });
  },
};
