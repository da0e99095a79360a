import { truncated } from '../../../base/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';

/** Longest uid that is echoed. The API server's have 36 characters; a longer one was not sent by it. */
const maxUidLength = 256;

/** The request in a review of a kind, and its uid; or what is wrong: then the response cannot be a review, either. */
export function requestIn(
  body: Json,
  apiVersion: string,
  kind: string,
): { request: JsonObject; uid: string } | { problem: string; uid: undefined } {
  const wrong = (problem: string) => ({ problem, uid: undefined });
  if (!isJsonObject(body)) {
    return wrong(`the body must be an object of kind ${kind}`);
  }
  if (body.kind !== kind || body.apiVersion !== apiVersion) {
    return wrong(
      `expected apiVersion "${apiVersion}" and kind "${kind}", got apiVersion ${describe(body.apiVersion)} and kind ${describe(body.kind)}`,
    );
  }
  const { request } = body;
  if (!isJsonObject(request)) {
    return wrong('request must be an object');
  }
  const { uid } = request;
  return typeof uid === 'string' && uid !== '' && uid.length <= maxUidLength
    ? { request, uid }
    : wrong(`request.uid must be a string of 1 to ${maxUidLength} characters`);
}

/** An untrusted value for a message: quoted and truncated, or its type. */
export function describe(value: Json | undefined): string {
  if (typeof value === 'string') {
    return JSON.stringify(truncated(value, 64));
  }
  return value === undefined
    ? 'none'
    : Array.isArray(value)
      ? 'an array'
      : value === null
        ? 'null'
        : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}
