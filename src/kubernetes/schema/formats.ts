import { fullFormats } from 'ajv-formats/dist/formats.js';
import { isBase64 } from '../objects/base64.ts';

/** One part of a duration as Go writes it, and one in words, as the API server reads too: `3 days`. */
const goPart = /(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h)/y;
const wordPart = /(\d+)\s*([A-Za-zµ]*)/g;

/** Units in words: short names, the beginning of long ones, and nanoseconds. */
const units: readonly (readonly [short: readonly string[], long: string, nanoseconds: bigint])[] = [
  [['ns'], 'nano', 1n],
  [['us', 'µs'], 'micro', 1_000n],
  [['ms'], 'milli', 1_000_000n],
  [['s'], 'sec', 1_000_000_000n],
  [['m'], 'min', 60_000_000_000n],
  [['h', 'hr'], 'hour', 3_600_000_000_000n],
  [['d'], 'day', 86_400_000_000_000n],
  [['w', 'wk'], 'week', 604_800_000_000_000n],
];

/** Longest text that is read as a duration in words, in characters. */
const maxWords = 1024;
/** The greatest number in a duration in words. */
const maxNumber = 2n ** 63n - 1n;

/** Whether a text is a duration as Go's time.ParseDuration reads it. */
function isGoDuration(text: string): boolean {
  const start = text.startsWith('-') || text.startsWith('+') ? 1 : 0;
  if (text.length === start + 1 && text.endsWith('0')) {
    return true;
  }
  goPart.lastIndex = start;
  let end = start;
  // Part by part: a single expression for all of them runs out of stack for a text of some MiB.
  while (end < text.length && goPart.test(text)) {
    end = goPart.lastIndex;
  }
  return end > start && end === text.length;
}

/**
 * A duration in words, in nanoseconds: the sum of all numbers with a unit. As for the API server, any other text around
 * them does not count, be it a unit that is unknown, a sign or the whole part of a decimal number.
 */
function wordsInNanoseconds(text: string): bigint | undefined {
  if (text.length > maxWords) {
    return undefined;
  }
  let sum: bigint | undefined;
  for (const [, digits = '', unit = ''] of text.matchAll(wordPart)) {
    if (unit === '') {
      continue;
    }
    const number = BigInt(digits);
    if (number > maxNumber) {
      return undefined;
    }
    const name = unit.toLowerCase();
    const [, , nanoseconds] = units.find(([short, long]) => short.includes(name) || name.startsWith(long)) ?? [];
    if (nanoseconds !== undefined) {
      sum = BigInt.asIntN(64, (sum ?? 0n) + number * nanoseconds);
    }
  }
  return sum;
}

/** A duration as Go writes it, in time linear in the text; undefined for a text that the API server refuses. */
export function goDuration(text: string): string | undefined {
  if (isGoDuration(text)) {
    return text;
  }
  const nanoseconds = wordsInNanoseconds(text);
  return nanoseconds === undefined ? undefined : `${nanoseconds}ns`;
}

function matchesFormat(format: unknown, text: string): boolean {
  if (format instanceof RegExp) {
    return format.test(text);
  }
  const check = typeof format === 'function' ? format : (format as { validate: unknown }).validate;
  return check instanceof RegExp ? check.test(text) : (check as (text: string) => boolean)(text);
}

/** Longest time, in characters: the library splits a longer one into as many pieces as it has letters T. */
const maxTimeLength = 256;

/**
 * Longest text of the other formats, in characters: longer than any request to an API server. The library's expressions
 * for email addresses and URIs run out of stack from some 6 Mi on.
 */
const maxLength = 4 * 1024 * 1024;

/** Formats that the API server checks; it ignores all others. */
export const formats: Readonly<Record<string, (text: string) => boolean>> = {
  byte: isBase64,
  duration: (text) => goDuration(text) !== undefined,
  ...Object.fromEntries(
    (['date', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'] as const).map((name) => [
      name,
      (text: string) => text.length <= maxLength && matchesFormat(fullFormats[name], text),
    ]),
  ),
  'date-time': (text) => text.length <= maxTimeLength && matchesFormat(fullFormats['date-time'], text),
};
