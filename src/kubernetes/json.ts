/** A value that JSON can hold, as JSON.parse returns it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** Why a body could not be read as JSON. `message` is fit for the client. */
export class JsonError extends Error {}

/**
 * Deepest nesting of arrays and objects that `parseJson` takes. Kubernetes' own decoder stops at 10,000; no object this
 * program knows is deeper than 20, and recursion over 256 levels is harmless.
 */
export const maxJsonDepth = 256;

/** Whether a value is a JSON object (not null, not an array). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

const quote = 0x22;
const backslash = 0x5c;

/** Throws when brackets nest deeper than `maxJsonDepth`: in one pass over the bytes, before anything is allocated. */
function checkDepth(bytes: Uint8Array): void {
  let depth = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === quote) {
      for (i++; i < bytes.length && bytes[i] !== quote; i++) {
        if (bytes[i] === backslash) {
          i++;
        }
      }
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > maxJsonDepth) {
        throw new JsonError(`the JSON document nests deeper than ${maxJsonDepth} levels`);
      }
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--;
    }
  }
}

/**
 * Reads a JSON document from UTF-8 bytes. Of duplicate keys the last one counts, as for the API server; a key named
 * `__proto__` becomes an ordinary property.
 *
 * @throws {JsonError} when the bytes are no UTF-8, no JSON, or nest deeper than `maxJsonDepth`.
 */
export function parseJson(bytes: Uint8Array): Json {
  checkDepth(bytes);
  let text: string;
  try {
    text = strictUtf8.decode(bytes);
  } catch {
    throw new JsonError('the body is not valid UTF-8');
  }
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    // V8 quotes a piece of the text in the message, and a body may hold secrets: only the position is passed on.
    const position = /position \d+( \(line \d+ column \d+\))?/.exec((error as Error).message)?.[0];
    throw new JsonError(`the body is not valid JSON${position === undefined ? '' : ` (at ${position})`}`);
  }
}
