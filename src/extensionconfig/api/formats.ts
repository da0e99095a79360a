import { fullFormats } from 'ajv-formats/dist/formats.js';
import { isBase64 } from '../../kubernetes/index.ts';
import type { FormatCheck } from './examine.ts';

/** Longest time, in characters: the CustomResourceDefinition sets no limit, and 35 are enough for nanoseconds. */
const maxTimeLength = 128;

const {
  int32,
  int64,
  'date-time': dateTime,
} = fullFormats as unknown as Record<'int32' | 'int64' | 'date-time', { validate(value: unknown): boolean }>;

export const formats = {
  int32: { type: 'number', validate: int32.validate },
  int64: { type: 'number', validate: int64.validate },
  byte: { type: 'string', validate: isBase64 },
  'date-time': {
    type: 'string',
    validate: (text: string) => text.length <= maxTimeLength && dateTime.validate(text),
  },
} as const;

/** Whether a value has a format, as in the compiled schemas. */
export const isOfFormat: FormatCheck = (format, value) => {
  const known = Object.hasOwn(formats, format) ? formats[format as keyof typeof formats] : undefined;
  return known === undefined || typeof value !== known.type || known.validate(value as never);
};
