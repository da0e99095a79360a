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
  return bytes.subarray(0, createFirstJsonScanner().scan(bytes));
}

/** Looks for the end of the first array or object of a text that comes in pieces. */
export interface FirstJsonScanner {
  /** Index behind the end in this piece; undefined when the end is not in it. */
  scan(piece: Buffer): number | undefined;
  /** Whether the end was in a piece. */
  readonly hasEnded: boolean;
}

/** A scanner at the beginning of a text. The text is not checked. */
export function createFirstJsonScanner(): FirstJsonScanner {
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let hasEnded = false;
  return {
    get hasEnded() {
      return hasEnded;
    },
    scan(piece) {
      for (let at = 0; at < piece.length && !hasEnded; at++) {
        const byte = piece[at];
        if (isEscaped) {
          isEscaped = false;
        } else if (isInString) {
          isEscaped = byte === 0x5c;
          isInString = byte !== 0x22;
        } else if (byte === 0x22) {
          isInString = true;
        } else if (byte === 0x7b || byte === 0x5b) {
          depth++;
        } else if (byte === 0x7d || byte === 0x5d) {
          depth--;
          hasEnded = depth <= 0;
          if (hasEnded) {
            return at + 1;
          }
        }
      }
      return undefined;
    },
  };
}
