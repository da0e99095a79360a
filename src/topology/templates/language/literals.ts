import { type Bytes, bytesOfRune, quoted, runeAt } from '../../../base/go-text/index.ts';
import { NotKnown } from '../../world/not-known.ts';
import { FunctionError } from '../budget.ts';
import { parseFloat64, parseInt64, parseUint64 } from '../values/numbers.ts';
import type { NumberNode } from './nodes.ts';

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

/** The text between quotes with its escapes replaced. */
function unescaped(inner: Bytes, quote: string): Bytes {
  return inner.replaceAll(
    escapes,
    (_whole, simple?: string, hex?: string, short?: string, long?: string, octal?: string) => {
      const own = simple === quote ? quote : simpleEscapes[simple ?? ''];
      if (own !== undefined) {
        return own;
      }
      const byte = octal === undefined ? Number.parseInt(hex ?? '', 16) : Number.parseInt(octal, 8);
      const code = Number.parseInt(short ?? long ?? '', 16);
      if (!(byte <= 0xff || code < 0xd800 || (code > 0xdfff && code <= 0x10ffff))) {
        throw new FunctionError('invalid syntax');
      }
      return byte <= 0xff ? String.fromCharCode(byte) : bytesOfRune(code);
    },
  );
}

/** The text of a string literal with its quotes, as strconv.Unquote. */
export const unquoted = (literal: Bytes): Bytes =>
  literal.startsWith('`') ? literal.slice(1, -1).replaceAll('\r', '') : unescaped(literal.slice(1, -1), '"');

function charNode(base: NumberNode): NumberNode {
  const inner = unescaped(base.text.slice(1, -1), "'");
  if (inner === '') {
    throw new FunctionError('invalid syntax');
  }
  const code = inner.length === 1 ? inner.charCodeAt(0) : runeAt(inner, 0).code;
  if (inner !== bytesOfRune(code) && inner.length > 1) {
    throw new FunctionError(`malformed character constant: ${base.text}`);
  }
  return { ...base, int: BigInt(code), float: code };
}

/** A number literal; which of Go's types it fits. */
export function numberNode(text: Bytes, at: number, type: 'charConstant' | 'number'): NumberNode {
  const base: NumberNode = { kind: 'number', at, text };
  if (type === 'charConstant') {
    return charNode(base);
  }
  if (text.endsWith('i')) {
    throw new NotKnown(`the template has the complex number ${text}`, { remedy: 'write it without i' });
  }
  const int = parseInt64(text, 0);
  if (typeof int === 'bigint') {
    return { ...base, int, float: Number(int) };
  }
  const uint = parseUint64(text, 0);
  if (typeof uint === 'bigint') {
    return { ...base, float: Number(uint) };
  }
  const float = parseFloat64(text);
  if (typeof float === 'string') {
    throw new FunctionError(`illegal number syntax: ${quoted(text)}`);
  }
  if (!/[.eEpP]/.test(text)) {
    throw new FunctionError(`integer overflow: ${quoted(text)}`);
  }
  const isInt = Number.isInteger(float) && float >= -(2 ** 63) && float < 2 ** 63;
  return { ...base, float, ...(isInt ? { int: BigInt(float) } : {}) };
}
