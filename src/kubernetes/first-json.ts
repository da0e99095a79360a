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

/** A whole number that is written with a fraction or an exponent, as `30.0` and `3e1`, or what looks like one in a text. */
const wholeFraction = /[:,[]\s*-?\d+(?:\.\d|[eE])/;

type ParseWithSource = (
  text: string,
  reviver: (key: string, value: Json, context: { source?: string }) => Json,
) => Json;

/**
 * The first JSON value of a body that was read before, with 0.5 in place of each whole number that is written with a
 * fraction or an exponent: Go's decoder does not take `30.0` for an integer, while JSON.parse does not tell it from 30.
 *
 * @returns undefined where there is no such number.
 */
export function withWholeFractionsShown(bytes: Buffer): Json | undefined {
  const text = bytes.toString('utf8');
  if (!wholeFraction.test(text)) {
    return undefined;
  }
  const shown = (json: string) =>
    (JSON.parse as ParseWithSource)(json, (_key, value, { source = '' }) =>
      typeof value === 'number' && Number.isInteger(value) && /[.eE]/.test(source) ? 0.5 : value,
    );
  try {
    return shown(text);
  } catch {
    return shown(firstJsonValue(bytes).toString('utf8'));
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
