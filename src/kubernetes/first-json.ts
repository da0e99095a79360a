import { type Json, JsonError, parseJson } from './json.ts';

/**
 * The first JSON value of a body: Go's decoder reads that one and leaves the rest alone. There is rarely a rest, so its
 * end is looked for when the whole is not JSON.
 *
 * @throws {JsonError} as `parseJson`.
 */
export function parseFirstJson(bytes: Buffer): Json {
  try {
    return parseJson(bytes);
  } catch (error) {
    const first = firstJsonValue(bytes);
    if (error instanceof JsonError && first.length < bytes.length) {
      return parseJson(first);
    }
    throw error;
  }
}

/** The bytes of the first JSON value, which is not checked; those of none end where the text does. */
function firstJsonValue(bytes: Buffer): Buffer {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (isInString) {
      if (byte === 0x5c) {
        at++;
      } else if (byte === 0x22) {
        isInString = false;
      }
    } else if (byte === 0x22) {
      isInString = true;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth++;
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--;
      if (depth <= 0) {
        return bytes.subarray(0, at + 1);
      }
    }
  }
  return bytes;
}
