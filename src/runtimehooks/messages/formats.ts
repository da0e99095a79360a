import { fullFormats } from 'ajv-formats/dist/formats.js';
import { isBase64 } from '../../kubernetes/index.ts';

/** Longest time that is read, in characters: the library splits longer ones into as many pieces as they have letters T. */
const maxTimeLength = 256;

const { validate: isTime } = fullFormats['date-time'] as { validate(text: string): boolean };

interface NumberFormat {
  type: 'number';
  validate(value: number): boolean;
}

/** The formats in messages, for ajv. */
export const formats = {
  int32: fullFormats.int32 as NumberFormat,
  int64: fullFormats.int64 as NumberFormat,
  byte: isBase64,
  'date-time': (text: string) => text.length <= maxTimeLength && isTime(text),
};
