import { type Bytes, invalidAt, textOf } from '../../../base/go-text/index.ts';
import { YamlError } from './scan.ts';

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

/** Decodes YAML, which must be UTF-8 without control characters. */
export function decodeYaml(bytes: Bytes): string {
  const invalid = invalidAt(bytes);
  const text = textOf(invalid === -1 ? bytes : bytes.slice(0, invalid));
  if (forbidden.test(text)) {
    throw new YamlError('yaml: control characters are not allowed');
  }
  if (invalid !== -1) {
    throw new YamlError(`yaml: ${problemOf(bytes, invalid)}`);
  }
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
