import { fullFormats } from 'ajv-formats/dist/formats.js';
import { isBase64 } from '../../kubernetes/index.ts';
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

/** The formats of our schemas, for ajv. */
export const formats = {
  int32: { type: 'number', validate: checkOf('int32') },
  int64: { type: 'number', validate: checkOf('int64') },
  byte: { type: 'string', validate: isBase64 },
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
