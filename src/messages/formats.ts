import { fullFormats } from 'ajv-formats/dist/formats.js';

/**
 * Whether a text is standard base64 with padding, as Go's decoder accepts it: line breaks are ignored. The library's
 * own expression repeats a group, which fails for a text of some MiB.
 */
function isBase64(text: string): boolean {
  const packed = /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]/g, '') : text;
  return packed.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(packed);
}

/** Longest time that is read, in characters: the library splits longer ones into as many pieces as they have letters T. */
const maxTimeLength = 256;

const { validate: isTime } = fullFormats['date-time'] as { validate(text: string): boolean };

/** The formats in messages, for ajv. */
export const formats = {
  int32: fullFormats.int32,
  int64: fullFormats.int64,
  byte: isBase64,
  'date-time': (text: string) => text.length <= maxTimeLength && isTime(text),
};
