import { fullFormats } from 'ajv-formats/dist/formats.js';
import { isBase64 } from '../objects/base64.ts';
import { goDurationMs } from '../objects/time.ts';

/**
 * A duration in words, which the API server reads too (kube-openapi, strfmt.ParseDuration): a number with the short name of a
 * unit, or the beginning of its long one. Any other text around them does not count.
 */
const words = /\d\s*(?:(?:ns|us|µs|ms|s|m|h|hr|d|w|wk)(?![a-zµ])|nano|micro|milli|sec|min|hour|day|week)/i;

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
  duration: (text) => goDurationMs(text) !== undefined || words.test(text),
  ...Object.fromEntries(
    (['date', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'] as const).map((name) => [
      name,
      (text: string) => text.length <= maxLength && matchesFormat(fullFormats[name], text),
    ]),
  ),
  'date-time': (text) => text.length <= maxTimeLength && matchesFormat(fullFormats['date-time'], text),
};
