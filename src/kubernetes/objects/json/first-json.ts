import { closingQuote, type Json, parseJson, quote } from './json.ts';

/**
 * The first JSON value of a body: Go's decoder reads that and ignores the rest. There rarely is any, so the end of the
 * value is located only if the body as a whole is not JSON.
 *
 * @throws {JsonError} as `parseJson`.
 */
export function parseFirstJson(bytes: Buffer): Json {
  try {
    return parseJson(bytes);
  } catch (error) {
    const end = endOfFirstValue(bytes);
    if (end === undefined || end === bytes.length) {
      throw error;
    }
    return parseJson(bytes.subarray(0, end));
  }
}

const [plus, minus, point] = [0x2b, 0x2d, 0x2e];
const isDigit = (byte = 0) => byte >= 0x30 && byte <= 0x39;
const isOfNumber = (byte = 0) =>
  isDigit(byte) || byte === point || byte === 0x65 || byte === 0x45 || byte === plus || byte === minus;

/** The end of a run of matching bytes. */
function runEnd(json: Buffer, start: number, belongs: (byte: number | undefined) => boolean): number {
  let at = start;
  while (belongs(json[at])) {
    at++;
  }
  return at;
}

/**
 * The first JSON value of a body that was read before, with 0.5 in place of each whole number that is written with a
 * fraction or an exponent: Go's decoder does not take `30.0` for an integer, while JSON.parse does not tell it from 30.
 *
 * Numbers are replaced in the bytes: a reviver of JSON.parse, which gets them as they are written, takes a function call and
 * an object for each value, and with 20 MiB of small ones more than ten seconds and a GiB.
 *
 * @returns undefined if the body contains no such number, in or after the value.
 */
export function withWholeFractionsShown(json: Buffer): Json | undefined {
  let shown: Buffer | undefined;
  for (let at = 0; at < json.length; ) {
    const byte = json[at];
    if (byte === quote) {
      at = closingQuote(json, at + 1) + 1;
    } else if (byte === minus || isDigit(byte)) {
      const digitsEnd = runEnd(json, at + 1, isDigit);
      const end = runEnd(json, digitsEnd, isOfNumber);
      if (end > digitsEnd && Number.isInteger(Number(json.toString('latin1', at, end)))) {
        shown ??= Buffer.from(json);
        // Such a number has at least three characters.
        shown.fill(' ', at, end).write('0.5', at);
      }
      at = end;
    } else {
      at++;
    }
  }
  return shown && parseFirstJson(shown);
}

/** Where the first array or object of a text ends, which is not checked; undefined if it has no end. */
function endOfFirstValue(json: Buffer): number | undefined {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) {
      at = closingQuote(json, at + 1);
    } else if (byte === 0x7b || byte === 0x5b) {
      depth++;
    } else if ((byte === 0x7d || byte === 0x5d) && --depth <= 0) {
      return at + 1;
    }
  }
  return undefined;
}
