import type { JsonObject } from '../../kubernetes/index.ts';
import type { CheckProblem, Skipped } from './check.ts';
import { describe, difference, isSameAnswer } from './heard.ts';
import type { Trial } from './trial.ts';
import type { TriedHandler } from './tried.ts';

/**
 * Calls handlers with a variation of their request and compares the responses with those of their second call, since
 * the first may have started work. For hooks that can block, only the status is compared, since their work may have
 * progressed.
 *
 * @param vary returns the variation of a request, or its text; undefined for a handler that it does not apply to.
 * @param most maximum number of handlers to call.
 */
export async function compareVariation(
  { answering, second, isSteady, call }: Trial,
  report: (problem: CheckProblem) => void,
  what: string,
  vary: (handler: TriedHandler) => JsonObject | string | undefined,
  most = Number.POSITIVE_INFINITY,
): Promise<Skipped | undefined> {
  let count = 0;
  for (const handler of await answering()) {
    if (count === most) {
      break;
    }
    const body = vary(handler);
    if (body === undefined) {
      continue;
    }
    count++;
    const [before, heard] = [await second(handler), await call(handler, { body })];
    if (heard.kind !== 'answer' || before.kind !== 'answer') {
      report({ handler: handler.name, message: `${what} it ${describe(heard)}` });
    } else if (
      handler.hook.isBlocking
        ? before.response.status !== heard.response.status
        : !isSameAnswer(before, heard) && (await isSteady(handler))
    ) {
      report({ handler: handler.name, message: `${what}: ${difference(before, heard)}` });
    }
  }
  return count === 0 ? { because: 'it applies to none of the called handlers' } : undefined;
}
