import { fullFormats } from 'ajv-formats/dist/formats.js';
import type { FormatCheck } from './examine.ts';

/** Longest time, in characters: the CustomResourceDefinition sets no limit, and 35 say it to the nanosecond. */
const maxTimeLength = 128;

type Check = RegExp | ((value: never) => boolean);

function checkOf(format: keyof typeof fullFormats): Check {
  const known = fullFormats[format] as Check | { validate: Check };
  return 'validate' in known ? known.validate : known;
}

function passes(check: Check, value: unknown): boolean {
  return check instanceof RegExp ? check.test(value as string) : check(value as never);
}

/** The formats of our schemas, as ajv takes them. */
export const formats = {
  int32: { type: 'number', validate: (value: number) => passes(checkOf('int32'), value) },
  int64: { type: 'number', validate: (value: number) => passes(checkOf('int64'), value) },
  byte: { type: 'string', validate: (text: string) => passes(checkOf('byte'), text) },
  'date-time': {
    type: 'string',
    validate: (text: string) => text.length <= maxTimeLength && passes(checkOf('date-time'), text),
  },
} as const;

/** Whether a value is of a format, as the compiled schemas see it. */
export const isOfFormat: FormatCheck = (format, value) => {
  const known = Object.hasOwn(formats, format) ? formats[format as keyof typeof formats] : undefined;
  return known === undefined || typeof value !== known.type || known.validate(value as never);
};
