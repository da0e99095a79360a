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
const escapeAt = /\\(?:([abfnrtv\\'"])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3}))/y;

/** One character of a Go literal at an offset: its bytes, its code, and where the next one starts. Undefined if it is bad. */
function charAt(text: Bytes, at: number, quote: string): { bytes: Bytes; code: number; next: number } | undefined {
  if (text[at] !== '\\') {
    const { code, size } = runeAt(text, at);
    return text[at] === quote || text[at] === '\n'
      ? undefined
      : { bytes: text.slice(at, at + size), code, next: at + size };
  }
  escapeAt.lastIndex = at;
  const match = escapeAt.exec(text);
  if (match === null) {
    return undefined;
  }
  const [whole, simple, hex, short, long, octal] = match;
  const next = at + whole.length;
  if (simple !== undefined) {
    const bytes = simple === quote ? quote : simpleEscapes[simple];
    return bytes === undefined ? undefined : { bytes, code: bytes.charCodeAt(0), next };
  }
  const byte = hex === undefined ? Number.parseInt(octal ?? '', 8) : Number.parseInt(hex, 16);
  if (!Number.isNaN(byte)) {
    return byte > 0xff ? undefined : { bytes: String.fromCharCode(byte), code: byte, next };
  }
  const code = Number.parseInt(short ?? long ?? '', 16);
  return code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? undefined : { bytes: bytesOfRune(code), code, next };
}

/** The text of a string literal with its quotes, as strconv.Unquote. */
export function unquoted(literal: Bytes): Bytes {
  const inner = literal.slice(1, -1);
  if (literal.startsWith('`')) {
    return inner.replaceAll('\r', '');
  }
  let text = '';
  for (let at = 0; at < inner.length; ) {
    const char = charAt(inner, at, '"');
    if (char === undefined) {
      throw new FunctionError('invalid syntax');
    }
    text += char.bytes;
    at = char.next;
  }
  return text;
}

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
  const char = charAt(base.text, 1, "'");
  if (char === undefined) {
    throw new FunctionError('invalid syntax');
  }
  if (base.text.slice(char.next) !== "'") {
    throw new FunctionError(`malformed character constant: ${base.text}`);
  }
  const code = BigInt(char.code);
  return { ...base, int: code, uint: code, float: char.code };
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
