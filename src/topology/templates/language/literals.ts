import { type Bytes, bytesOfRune, quoted, runeAt } from '../../../base/go-text/index.ts';
import { FunctionError, NotComputed } from '../budget.ts';
import { parseFloat64, parseInt64, parseUint64 } from '../values/numbers.ts';
import { sprintf } from '../values/print.ts';
import { Struct } from '../values/values.ts';
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

/** What is between quotes with its escapes replaced. */
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

function integersOf(value: number): { int?: bigint; uint?: bigint } {
  if (!Number.isInteger(value)) {
    return {};
  }
  return {
    ...(value >= -(2 ** 63) && value < 2 ** 63 ? { int: BigInt(value) } : {}),
    ...(value >= 0 && value < 2 ** 64 ? { uint: BigInt(value) } : {}),
  };
}

/** A complex number, which can do nothing but be printed. */
class Complex extends Struct {
  readonly type = 'complex128';
  override readonly kind = 'complex128';
  readonly #real: number;
  readonly #imaginary: number;

  constructor(real: number, imaginary: number) {
    super();
    this.#real = real;
    this.#imaginary = imaginary;
  }

  text(): Bytes {
    return sprintf(`(%v${this.#imaginary < 0 ? '' : '+'}%vi)`, [this.#real, this.#imaginary]);
  }

  override json(): never {
    throw new FunctionError('json: unsupported type: complex128');
  }
}

function charNode(base: NumberNode): NumberNode {
  const inner = unescaped(base.text.slice(1, -1), "'");
  if (inner === '') {
    throw new FunctionError('invalid syntax');
  }
  const code = inner.length === 1 ? inner.charCodeAt(0) : runeAt(inner, 0).code;
  if (inner !== bytesOfRune(code) && inner.length > 1) {
    throw new FunctionError(`malformed character constant: ${base.text}`);
  }
  return { ...base, int: BigInt(code), uint: BigInt(code), float: code };
}

/** A number literal; which of Go's types it fits. */
export function numberNode(text: Bytes, at: number, type: 'charConstant' | 'number'): NumberNode {
  const base: NumberNode = { kind: 'number', at, text };
  if (type === 'charConstant') {
    return charNode(base);
  }
  if (text.endsWith('i')) {
    const [, real = '0', imaginary] = /^([+-]?[0-9.]+(?=[+-]))?([+-]?[0-9.]+)i$/.exec(text) ?? [];
    if (!Number(imaginary)) {
      throw new NotComputed(`the complex number ${text} is not read here`);
    }
    return { ...base, complex: new Complex(Number(real), Number(imaginary)) };
  }
  const int = parseInt64(text, 0);
  if (typeof int === 'bigint') {
    const isUnsigned = int === 0n || !/^[+-]/.test(text);
    return { ...base, int, float: Number(int), ...(isUnsigned ? { uint: int } : {}) };
  }
  const uint = parseUint64(text, 0);
  if (typeof uint === 'bigint') {
    return { ...base, uint, float: Number(uint) };
  }
  const float = parseFloat64(text);
  if (typeof float === 'string') {
    throw new FunctionError(`illegal number syntax: ${quoted(text)}`);
  }
  if (!/[.eEpP]/.test(text)) {
    throw new FunctionError(`integer overflow: ${quoted(text)}`);
  }
  return { ...base, float, ...integersOf(float) };
}
