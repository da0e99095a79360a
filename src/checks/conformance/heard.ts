import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '../../kubernetes/index.ts';
import { type CallError, quotable } from '../../runtimehooks/client/index.ts';
import { secretParts } from './texts.ts';

/** The result of one request. */
export type Heard = { ms: number } & (
  | { kind: 'answer'; response: JsonObject }
  /** A status other than 200. */
  | { kind: 'refused'; code: number; text: string }
  /** There was no response, or none that Cluster API could read. */
  | { kind: 'failed'; error: CallError }
);

/** A response that Cluster API could read. */
export type HeardAnswer = Heard & { kind: 'answer' };

/** The result of a request, as the end of a sentence. */
export function describe(heard: Heard): string {
  switch (heard.kind) {
    case 'answer':
      return `answers ${quotable(String(heard.response.status ?? 'without a status'), 40)}`;
    case 'refused':
      return `answers HTTP ${heard.code}`;
    case 'failed':
      return heard.error.step === 'timeout' ? 'does not answer in time' : quotable(heard.error.message, 300);
  }
}

/** Whether a request was answered with the status `Success`. */
export const isSuccess = (heard: Heard): heard is HeardAnswer =>
  heard.kind === 'answer' && heard.response.status === 'Success';

/** Whether an answer tells Cluster API to wait. */
export function isBlocking(heard: Heard): boolean {
  return (
    isSuccess(heard) && typeof heard.response.retryAfterSeconds === 'number' && heard.response.retryAfterSeconds > 0
  );
}

/**
 * The parts of a response that Cluster API reads: without apiVersion and kind, and without zero values, which equal
 * absent ones.
 */
function essence(response: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(response).filter(
      ([name, value]) =>
        name !== 'apiVersion' &&
        name !== 'kind' &&
        value !== null &&
        value !== '' &&
        value !== 0 &&
        !(Array.isArray(value) && value.length === 0),
    ),
  );
}

/** Why Discovery was not successful; undefined if it was. */
export function discoveryProblem(heard: Heard): string | undefined {
  if (isSuccess(heard)) {
    return undefined;
  }
  const said = shownMessage(heard);
  return `Discovery ${describe(heard)}${said === '' ? '' : `: ${said}`}`;
}

/** Whether two requests had the same result, as far as Cluster API can tell. */
export function isSameAnswer(a: Heard, b: Heard): boolean {
  if (a.kind !== b.kind) {
    return false;
  }
  return a.kind === 'answer' && b.kind === 'answer'
    ? isDeepStrictEqual(essence(a.response), essence(b.response))
    : a.kind === 'refused' && b.kind === 'refused'
      ? a.code === b.code
      : true;
}

/** The names of the fields that differ between two answers, as the end of a sentence. */
export function difference(a: Heard, b: Heard): string {
  if (a.kind !== 'answer' || b.kind !== 'answer') {
    return `it once ${describe(a)}, and once ${describe(b)}`;
  }
  const [one, other] = [essence(a.response), essence(b.response)];
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].filter(
    (name) => !isDeepStrictEqual(one[name], other[name]),
  );
  return `the answers differ in ${quotable(names.slice(0, 5).join(', '), 200)}`;
}

/** The message of an answer; empty if it has none. */
export function messageOf(heard: Heard): string {
  const message = heard.kind === 'answer' && isJsonObject(heard.response) ? heard.response.message : undefined;
  return typeof message === 'string' ? message : '';
}

/** The message of a response as a report may show it: truncated, and omitted if it contains a secret. */
export function shownMessage(heard: Heard): string {
  const message = messageOf(heard);
  return secretParts(message).length > 0 ? '(a message that should not be shown)' : quotable(message, 200);
}
