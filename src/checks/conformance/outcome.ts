import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../kubernetes/index.ts';
import { type CallError, quotable } from '../../runtimehooks/client/index.ts';
import { secretParts } from './unwanted-text.ts';

/** A response that Cluster API could read. */
interface Answer {
  ms: number;
  response: JsonObject;
  /**
   * What Cluster API makes of the response: without apiVersion and kind, without zero values, which equal absent ones, and
   * with the patched objects instead of the patches.
   */
  effect(): JsonObject;
  error?: undefined;
}

/** How a call ended. */
export type Outcome = Answer | { ms: number; response?: undefined; error: CallError };

/** The outcome of a call, as the end of a sentence. */
export function describe({ response, error }: Outcome): string {
  if (error === undefined) {
    return `answers ${quotable(String(response.status ?? 'without a status'), 40)}`;
  }
  return error.step === 'http'
    ? `answers HTTP ${error.code}`
    : error.step === 'timeout'
      ? 'does not answer in time'
      : quotable(error.message, 300);
}

/** Whether a call was answered with the status `Success`. */
export const isSuccess = (outcome: Outcome): outcome is Answer & { response: { status: 'Success' } } =>
  outcome.response?.status === 'Success';

/** Whether a call was answered with the status `Failure`. */
export const isFailure = ({ response }: Outcome): boolean => response?.status === 'Failure';

/** Whether an answer tells Cluster API to wait. */
export const isBlocking = (outcome: Outcome): boolean =>
  isSuccess(outcome) &&
  typeof outcome.response.retryAfterSeconds === 'number' &&
  outcome.response.retryAfterSeconds > 0;

/** Whether two calls had the same outcome, as far as Cluster API can tell. */
export function isSameOutcome(a: Outcome, b: Outcome): boolean {
  if (a.error !== undefined && b.error !== undefined) {
    return (a.error.step === 'http') === (b.error.step === 'http') && a.error.code === b.error.code;
  }
  return a.error === undefined && b.error === undefined && isDeepStrictEqual(a.effect(), b.effect());
}

/** How two outcomes differ, as the end of a sentence. */
export function difference(a: Outcome, b: Outcome): string {
  if (a.error !== undefined || b.error !== undefined) {
    return `it once ${describe(a)}, and once ${describe(b)}`;
  }
  const [one, other] = [a.effect(), b.effect()];
  const names = Object.keys({ ...one, ...other }).filter((name) => !isDeepStrictEqual(one[name], other[name]));
  return `the answers differ in ${quotable(names.slice(0, 5).join(', '), 200)}`;
}

/** The message of an answer; empty if it has none. */
export function messageOf({ response }: Outcome): string {
  return typeof response?.message === 'string' ? response.message : '';
}

/** The message of a response as a report may show it: truncated, and omitted if it contains a secret. */
export function shownMessage(outcome: Outcome): string {
  const message = messageOf(outcome);
  return secretParts(message).length > 0 ? '(a message that should not be shown)' : quotable(message, 200);
}
