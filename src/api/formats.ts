import { fullFormats } from 'ajv-formats/dist/formats.js';
import type { FormatCheck } from './examine.ts';

/** Longest time, in characters: the CustomResourceDefinition sets no limit, and 35 are enough for nanoseconds. */
const maxTimeLength = 128;

type Check = RegExp | ((value: never) => boolean);

function checkOf(format: keyof typeof fullFormats): (value: unknown) => boolean {
  const known = fullFormats[format] as Check | { validate: Check };
  const check = 'validate' in known ? known.validate : known;
  return check instanceof RegExp ? (value) => check.test(value as string) : (check as (value: unknown) => boolean);
}

const isDateTime = checkOf('date-time');

const isByteInLines = checkOf('byte');

/** Longest text for the native decoder, in characters: longer than any bundle that the schema allows. */
const maxDecodedLength = 64 * 1024;

/** Whether a text is base64. The native decoder decides about base64 in one line, ajv's expression about the rest. */
function isByte(text: string): boolean {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  // The decoder skips other characters, accepts the two characters of base64url, and uses only the low byte beyond
  // ASCII.
  return (
    (text.length % 4 === 0 &&
      text.length <= maxDecodedLength &&
      Buffer.from(text, 'base64').length === (text.length / 4) * 3 - padding &&
      Buffer.byteLength(text) === text.length &&
      !text.includes('-') &&
      !text.includes('_')) ||
    isByteInLines(text)
  );
}

/** The formats of our schemas, for ajv. */
export const formats = {
  int32: { type: 'number', validate: checkOf('int32') },
  int64: { type: 'number', validate: checkOf('int64') },
  byte: { type: 'string', validate: isByte },
  'date-time': {
    type: 'string',
    validate: (text: string) => text.length <= maxTimeLength && isDateTime(text),
  },
} as const;

/** Whether a value has a format, as in the compiled schemas. */
export const isOfFormat: FormatCheck = (format, value) => {
  const known = Object.hasOwn(formats, format) ? formats[format as keyof typeof formats] : undefined;
  return known === undefined || typeof value !== known.type || known.validate(value as never);
};
