import { Buffer } from 'node:buffer';

/** A Go string: bytes, one per character (U+0000 to U+00FF), so that indices, lengths and comparisons are those of Go. */
export type Bytes = string;

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ascii = /^[\x00-\x7f]*$/;

/** Encodes text. A lone surrogate becomes U+FFFD, as when Go reads it from JSON. */
export function bytesOf(text: string): Bytes {
  return ascii.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** Decodes text. What is not UTF-8 becomes U+FFFD. */
export function textOf(bytes: Bytes): string {
  return ascii.test(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8');
}

export interface Rune {
  code: number;
  /** How many bytes it has; 1 for a byte that is not part of a character. */
  size: number;
  isValid: boolean;
}

/** U+FFFD is what Go reads where a byte is not part of a character. */
const invalid: Rune = { code: 0xfffd, size: 1, isValid: false };

/** The character that starts at an index, as utf8.DecodeRune. */
export function runeAt(bytes: Bytes, index: number): Rune {
  const first = bytes.charCodeAt(index);
  if (first < 0x80) {
    return { code: first, size: 1, isValid: true };
  }
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || index + size > bytes.length) {
    return invalid;
  }
  let code = first & (0xff >> (size + 1));
  for (let next = 1; next < size; next++) {
    const byte = bytes.charCodeAt(index + next);
    if ((byte & 0xc0) !== 0x80) {
      return invalid;
    }
    code = (code << 6) | (byte & 0x3f);
  }
  const isShortest = code >= (size === 2 ? 0x80 : size === 3 ? 0x800 : 0x10000);
  return isShortest && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? { code, size, isValid: true } : invalid;
}

export function* runesOf(bytes: Bytes): Generator<Rune> {
  for (let index = 0; index < bytes.length; ) {
    const rune = runeAt(bytes, index);
    yield rune;
    index += rune.size;
  }
}

/** The first characters of a Go string. */
export const firstRunes = (bytes: Bytes, count: number): Bytes =>
  bytes.slice(
    0,
    runesOf(bytes)
      .take(count)
      .reduce((end, { size }) => end + size, 0),
  );

/** Where a Go string is not UTF-8; -1 if it is. */
export function invalidAt(bytes: Bytes): number {
  let at = 0;
  for (const { size, isValid } of runesOf(bytes)) {
    if (!isValid) {
      return at;
    }
    at += size;
  }
  return -1;
}

/** How many characters a Go string has. */
export function runeCount(bytes: Bytes): number {
  return ascii.test(bytes) ? bytes.length : [...runesOf(bytes)].length;
}

/** The bytes of a character; those of U+FFFD for a code that is none. */
export function bytesOfRune(code: number): Bytes {
  return bytesOf(code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code));
}

/** The text as Go's functions read it that map characters: U+FFFD for each byte that is not part of one. */
export function decoded(bytes: Bytes): string {
  return ascii.test(bytes) ? bytes : Array.from(runesOf(bytes), ({ code }) => String.fromCodePoint(code)).join('');
}

/** Applies a function to the decoded text. */
export function mapText(bytes: Bytes, change: (text: string) => string): Bytes {
  return bytesOf(change(decoded(bytes)));
}

const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u;

/** Whether a character is visible, as strconv.IsPrint: of spaces, only U+0020. */
export function isPrintable(code: number): boolean {
  return code === 0x20 || (code <= 0x10ffff && printable.test(String.fromCodePoint(code)));
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

function escaped({ code, isValid, size }: Rune, raw: string, quote: string): string {
  if (!isValid && size === 1) {
    return `\\x${hex(raw.charCodeAt(0), 2)}`;
  }
  if (raw === quote || raw === '\\') {
    return `\\${raw}`;
  }
  if (isPrintable(code)) {
    return raw;
  }
  const short = 'abtnvfr'[code - 7];
  if (short !== undefined) {
    return `\\${short}`;
  }
  return code < 0x20 || code === 0x7f
    ? `\\x${hex(code, 2)}`
    : code < 0x10000
      ? `\\u${hex(code, 4)}`
      : `\\U${hex(code, 8)}`;
}

/** Bytes that a literal may write otherwise; all bytes of a character are in one run. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
const special = /["\\]|[\x00-\x1f\x7f-\xff]+/g;

/** A string as a Go literal in double quotes, as strconv.Quote. */
export function quoted(bytes: Bytes): Bytes {
  const inner = bytes.replaceAll(special, (run) => {
    let result = '';
    for (let index = 0; index < run.length; ) {
      const rune = runeAt(run, index);
      result += escaped(rune, run.slice(index, index + rune.size), '"');
      index += rune.size;
    }
    return result;
  });
  return `"${inner}"`;
}

/** A character as a Go literal in single quotes, as strconv.QuoteRune. */
export function quotedRune(code: number): Bytes {
  const raw = bytesOfRune(code);
  return `'${escaped(runeAt(raw, 0), raw, "'")}'`;
}

/** White space, as unicode.IsSpace. */
export function isSpaceRune(code: number): boolean {
  return code !== 0xfeff && /[\s\x85]/.test(String.fromCodePoint(code));
}

/** A byte, given as a character, in percent-encoding (RFC 3986, section 2.1). */
export const percentEncoded = (byte: string): string => `%${hex(byte.charCodeAt(0), 2).toUpperCase()}`;
