import type { JsonObject } from '../../kubernetes/index.ts';
import type { CheckProblem, Skipped } from './check.ts';
import { isSuccess } from './heard.ts';
import { type PatchReview, reviewMachinePatches, reviewTemplatePatches } from './patches.ts';
import type { Trial } from './trial.ts';

/** Hooks whose responses contain patches, with the function that reviews them. */
const reviewers = new Map([
  ['GeneratePatches', reviewTemplatePatches],
  ['CanUpdateMachine', reviewMachinePatches],
  ['CanUpdateMachineSet', reviewMachinePatches],
]);

/** Reviews by response, since several checks need them. */
const reviews = new WeakMap<JsonObject, PatchReview>();

/** Reports one kind of problem with the patches in all first responses. */
export async function reviewPatches(
  { handlers, first }: Trial,
  report: (problem: CheckProblem) => void,
  kind: Exclude<keyof PatchReview, 'count'>,
): Promise<Skipped | undefined> {
  let patches = 0;
  for (const handler of handlers) {
    const reviewer = reviewers.get(handler.hook.name);
    if (reviewer === undefined) {
      continue;
    }
    const heard = await first(handler);
    if (kind === 'unreadable' && heard.kind === 'failed' && heard.error.step === 'decode') {
      if (heard.error.message.includes('base64')) {
        patches++;
        report({ handler: handler.name, message: heard.error.message });
      }
    } else if (isSuccess(heard)) {
      const review = reviews.get(heard.response) ?? reviewer(handler.request, heard.response);
      reviews.set(heard.response, review);
      patches += review.count;
      for (const message of review[kind]) {
        report({ handler: handler.name, message });
      }
    }
  }
  return patches === 0
    ? { because: 'there are no patches: pass a request that needs some with --request FILE' }
    : undefined;
}
