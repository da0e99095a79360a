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

/** Longest text that is matched with a pattern, in UTF-16 units: fields with one may have 1,024 characters of two each. */
const maxMatched = 2 * 1024;

/** A pattern of the schema; a longer text is too long anyway. It remains a RegExp: ajv tells patterns apart by their text. */
export function patternOf(pattern: string, flags: string): RegExp {
  const expression = new RegExp(pattern, flags);
  const test = (text: string) => text.length > maxMatched || RegExp.prototype.test.call(expression, text);
  return Object.assign(expression, { test });
}
