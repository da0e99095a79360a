import { type Bytes, bytesOfRune, quoted, runeAt } from '../../../base/go-text/index.ts';
import { NotKnown } from '../../world/not-known.ts';
import { parseFloat64, parseInt64, parseUint64 } from '../values/numbers.ts';
import type { LiteralNode } from './nodes.ts';

type Fail = (message: Bytes) => never;

const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};
const escapes = /\\(?:([abfnrtv\\'"])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3}))?/g;

function unescaped(literal: Bytes, fail: Fail): Bytes {
  return literal
    .slice(1, -1)
    .replaceAll(escapes, (_whole, simple?: string, hex?: string, short?: string, long?: string, octal?: string) => {
      const own = simple === literal[0] ? simple : simpleEscapes[simple ?? ''];
      if (own !== undefined) {
        return own;
      }
      const byte = octal === undefined ? Number.parseInt(hex ?? '', 16) : Number.parseInt(octal, 8);
      const code = Number.parseInt(short ?? long ?? '', 16);
      if (!(byte <= 0xff || code < 0xd800 || (code > 0xdfff && code <= 0x10ffff))) {
        fail('invalid syntax');
      }
      return byte <= 0xff ? String.fromCharCode(byte) : bytesOfRune(code);
    });
}

/** The text of a string literal with its quotes, as strconv.Unquote. */
export const unquoted = (literal: Bytes, fail: Fail): Bytes =>
  literal.startsWith('`') ? literal.slice(1, -1).replaceAll('\r', '') : unescaped(literal, fail);

function characterOf(literal: Bytes, fail: Fail): number {
  const inner = unescaped(literal, fail);
  if (inner === '') {
    fail('invalid syntax');
  }
  const code = inner.length === 1 ? inner.charCodeAt(0) : runeAt(inner, 0).code;
  return inner.length > 1 && inner !== bytesOfRune(code) ? fail(`malformed character constant: ${literal}`) : code;
}

function numbersOf(source: Bytes, fail: Fail): LiteralNode['fits'] {
  if (source.startsWith("'")) {
    const code = characterOf(source, fail);
    return { int: BigInt(code), float64: code };
  }
  if (source.endsWith('i')) {
    throw new NotKnown(`the template has the complex number ${source}`, { remedy: 'write it without i' });
  }
  const int = parseInt64(source, 0);
  if (typeof int === 'bigint') {
    return { int, float64: Number(int) };
  }
  const uint = parseUint64(source, 0);
  if (typeof uint === 'bigint') {
    return { float64: Number(uint) };
  }
  const float64 = parseFloat64(source);
  if (typeof float64 === 'string') {
    fail(`illegal number syntax: ${quoted(source)}`);
  }
  if (!/[.eEpP]/.test(source)) {
    fail(`integer overflow: ${quoted(source)}`);
  }
  const isInt = Number.isInteger(float64) && float64 >= -(2 ** 63) && float64 < 2 ** 63;
  return { float64, ...(isInt && { int: BigInt(float64) }) };
}

/** A literal by its source. Without a type that is asked for, the form of a number tells which one it gets. */
export function literal(source: Bytes, fail: Fail): Pick<LiteralNode, 'value' | 'fits'> {
  if (source === 'true' || source === 'false') {
    return { value: source === 'true', fits: { bool: source === 'true' } };
  }
  if (/^["`]/.test(source)) {
    const string = unquoted(source, fail);
    return { value: string, fits: { string } };
  }
  const fits = numbersOf(source, fail);
  const isWhole = source.startsWith("'") || (/^0[xX]./.test(source) && !/[pP]/.test(source));
  return { value: !isWhole && /[.eEpP]/.test(source) ? fits.float64 : fits.int, fits };
}
