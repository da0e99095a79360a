import { messageProblems } from '../../messages/index.ts';
import { quotable } from '../../runtime/index.ts';
import { type Check, ofAnswering } from '../check.ts';
import { isSuccess } from '../heard.ts';

export const check: Check = {
  id: 'known-fields',
  group: 'Answers',
  level: 'should',
  asks: 'Answers have the fields that the hook defines, all required ones and no others.',
  why: 'Cluster API leaves fields alone that it does not know: a misspelt one is lost without a word (the book itself spells boostrapConfigPatch).',
  remedy: 'compare with "hooks HOOK"; answer retryAfterSeconds: 0 where nothing is to wait for',
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
