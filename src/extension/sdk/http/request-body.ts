import { isJsonObject, type Json, JsonError, parseFirstJson } from '../../../kubernetes/index.ts';
import type { BodyRefusal } from '../../../server/index.ts';

/** The failure of a call whose body is not a request, without the envelope of its hook. */
export interface BodyFailure {
  status: 'Failure';
  message: string;
}

/** The failure for a body that is not JSON, worded as by Go's server. */
const unreadable = (problem: string): { failure: BodyFailure } => ({
  failure: { status: 'Failure', message: `error unmarshalling request: ${problem}` },
});

/** The JSON object at the start of a body, or the Failure that says why there is none. */
export function readRequest(bytes: Buffer): { request: Json } | { failure: BodyFailure } {
  try {
    const request = parseFirstJson(bytes);
    return isJsonObject(request) ? { request } : unreadable('the body is not a JSON object');
  } catch (error) {
    if (error instanceof JsonError) {
      return unreadable(bytes.length === 0 ? 'the body is empty' : error.message);
    }
    throw error;
  }
}

/**
 * The response to a request with a compressed or oversized body: a Failure, as from Go's server, since an HTTP error
 * would be ignored for a handler with `failurePolicy: Ignore`. Undefined if the server has no room: then it counts as
 * unreachable.
 */
export function failureOf({ code, message }: BodyRefusal): BodyFailure | undefined {
  return code === 503 ? undefined : { status: 'Failure', message: `error reading request: ${message}` };
}
