import ajvFormats from 'ajv-formats';
import { isBase64, isInt32 } from '../../kubernetes/index.ts';

/** Longest time, in characters: the CustomResourceDefinition sets no limit, and 35 are enough for nanoseconds. */
const maxTimeLength = 128;

const dateTime = ajvFormats.default.get('date-time') as { validate(text: string): boolean };

export const formats = {
  int32: { type: 'number', validate: isInt32 },
  // Of a larger one JSON.parse has no digits left to check.
  int64: { type: 'number', validate: (value: number) => Number.isInteger(value) },
  byte: { type: 'string', validate: isBase64 },
  'date-time': {
    type: 'string',
    validate: (text: string) => text.length <= maxTimeLength && dateTime.validate(text),
  },
} as const;

/** Whether a value has a format, as in the compiled schemas. */
export function isOfFormat(format: string, value: unknown): boolean {
  const known = Object.hasOwn(formats, format) ? formats[format as keyof typeof formats] : undefined;
  return known === undefined || typeof value !== known.type || known.validate(value as never);
}
