import { type Bytes, textOf } from '../values/bytes.ts';
import { YamlError } from './problem.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
const forbidden = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;

/** Why bytes are not UTF-8, at the first byte that is not. */
function problemOf(bytes: Bytes, at: number): string {
  const first = bytes.charCodeAt(at);
  const size = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf8 ? 4 : 0;
  if (size === 0) {
    return 'invalid leading UTF-8 octet';
  }
  if (at + size > bytes.length) {
    return 'incomplete UTF-8 octet sequence';
  }
  for (let next = at + 1; next < at + size; next++) {
    if ((bytes.charCodeAt(next) & 0xc0) !== 0x80) {
      return 'invalid trailing UTF-8 octet';
    }
  }
  return first === 0xc0 || first === 0xc1 ? 'invalid length of a UTF-8 sequence' : 'invalid Unicode character';
}

/** One character of more than one byte. */
const character =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}/y;

/** Where bytes are not UTF-8; their length if they are. */
function firstInvalid(bytes: Bytes): number {
  for (let at = 0; at < bytes.length; ) {
    if (bytes.charCodeAt(at) < 0x80) {
      at++;
      continue;
    }
    character.lastIndex = at;
    if (!character.test(bytes)) {
      return at;
    }
    at = character.lastIndex;
  }
  return bytes.length;
}

/** Decodes YAML, which must be UTF-8 without control characters. */
export function decodeYaml(bytes: Bytes): string {
  const valid = firstInvalid(bytes);
  const text = textOf(bytes.slice(0, valid));
  if (forbidden.test(text)) {
    throw new YamlError('yaml: control characters are not allowed');
  }
  if (valid < bytes.length) {
    throw new YamlError(`yaml: ${problemOf(bytes, valid)}`);
  }
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
