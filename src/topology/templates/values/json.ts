import type { Json } from '../../../kubernetes/index.ts';
import { type Budget, FunctionError, Text } from '../budget.ts';
import { type Bytes, bytesOf, bytesOfRune, quotedRune, runeAt, runeError } from './bytes.ts';
import { formatFloat } from './numbers.ts';
import { Complex, Dict, Integer, List, Struct, type Value } from './values.ts';

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

function encodedText(text: Bytes, escapesHtml: boolean): Bytes {
  let result = '"';
  for (let at = 0; at < text.length; ) {
    const { code, size, isValid } = runeAt(text, at);
    const raw = text.slice(at, at + size);
    at += size;
    if (!isValid) {
      result += '\\ufffd';
    } else if (code < 0x20 || raw === '"' || raw === '\\') {
      result += shortEscapes[raw] ?? `\\u${code.toString(16).padStart(4, '0')}`;
    } else if (code === 0x2028 || code === 0x2029 || (escapesHtml && '<>&'.includes(raw))) {
      result += `\\u${code.toString(16).padStart(4, '0')}`;
    } else {
      result += raw;
    }
  }
  return `${result}"`;
}

function encodedFloat(value: number): string {
  if (!Number.isFinite(value)) {
    throw new FunctionError(`json: unsupported value: ${formatFloat(value, 'g', -1)}`);
  }
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-6 || size >= 1e21)
    ? formatFloat(value, 'e', -1).replace(/e-0([0-9])$/, 'e-$1')
    : formatFloat(value, 'f', -1);
}

/** Deepest nesting that is encoded: only what contains itself gets there. */
const maxNesting = 1_000;

class Encoder {
  #depth = 0;
  readonly #budget: Budget;
  readonly #output: Text;
  readonly #escapesHtml: boolean;
  readonly #indent: string;

  constructor(budget: Budget, escapesHtml: boolean, indent: string) {
    this.#budget = budget;
    this.#output = new Text(budget);
    this.#escapesHtml = escapesHtml;
    this.#indent = indent;
  }

  encode(value: Value): Bytes {
    this.#value(value);
    return this.#output.toString();
  }

  #break(): void {
    if (this.#indent !== '') {
      this.#output.write(`\n${this.#indent.repeat(this.#depth)}`);
    }
  }

  #items(open: string, close: string, writers: readonly (() => void)[]): void {
    if (this.#depth >= maxNesting) {
      throw new FunctionError('json: unsupported value: encountered a cycle');
    }
    this.#depth++;
    this.#output.write(open);
    for (const [index, write] of writers.entries()) {
      this.#output.write(index > 0 ? ',' : '');
      this.#break();
      write();
    }
    this.#depth--;
    if (writers.length > 0) {
      this.#break();
    }
    this.#output.write(close);
  }

  #value(value: Value): void {
    this.#budget.spend(1);
    if (value === null || ((value instanceof List || value instanceof Dict) && value.isNil)) {
      this.#output.write('null');
    } else if (typeof value === 'string') {
      this.#budget.write(value.length);
      this.#output.write(encodedText(value, this.#escapesHtml));
    } else if (typeof value === 'number') {
      this.#output.write(encodedFloat(value));
    } else if (value instanceof List) {
      if (value.element === 'uint8') {
        const bytes = value.items.map((byte) => Number((byte as Integer).value));
        this.#output.write(`"${Buffer.from(bytes).toString('base64')}"`);
        return;
      }
      this.#items(
        '[',
        ']',
        value.items.map((item) => () => this.#value(item)),
      );
    } else if (value instanceof Dict) {
      const colon = this.#indent === '' ? ':' : ': ';
      this.#items(
        '{',
        '}',
        value.keys().map((key) => () => {
          this.#output.write(encodedText(key, this.#escapesHtml) + colon);
          this.#value(value.entries.get(key) ?? null);
        }),
      );
    } else if (value instanceof Struct) {
      this.#value(value.json());
    } else if (value instanceof Complex) {
      throw new FunctionError('json: unsupported type: complex128');
    } else {
      this.#output.write(String(value instanceof Integer ? value.value : value));
    }
  }
}

/**
 * encoding/json's Marshal.
 *
 * @throws {FunctionError} for numbers that JSON does not have.
 */
export function encodeJson(value: Value, budget: Budget, { escapesHtml = true, indent = '' } = {}): Bytes {
  return new Encoder(budget, escapesHtml, indent).encode(value);
}

/** Deepest nesting that is read; recursion over more may overflow the stack. */
const maxReadDepth = 1_000;
const tooDeep = `JSON nests deeper than ${maxReadDepth} levels`;
const numberAt = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

/** Reads JSON into values, as encoding/json does into an `interface {}`. */
class Decoder {
  readonly #text: Bytes;
  readonly #budget: Budget;
  #at = 0;
  #depth = 0;

  constructor(text: Bytes, budget: Budget) {
    this.#text = text;
    this.#budget = budget;
  }

  decode(): Value {
    const value = this.#value('looking for beginning of value');
    this.#skipSpaces();
    if (this.#at < this.#text.length) {
      this.#fail('after top-level value');
    }
    return value;
  }

  #skipSpaces(): void {
    while (' \t\r\n'.includes(this.#text[this.#at] ?? 'x')) {
      this.#at++;
    }
  }

  /** @param isWithin whether it is within a word or a number, which Go ends with a space. */
  #fail(context: string, isWithin = false): never {
    const char = this.#text[this.#at] ?? (isWithin ? ' ' : undefined);
    if (char === undefined) {
      throw new FunctionError('unexpected end of JSON input');
    }
    const shown = char === "'" ? `'\\''` : char === '"' ? `'"'` : quotedRune(char.charCodeAt(0));
    throw new FunctionError(`invalid character ${shown} ${context}`);
  }

  #value(context: string): Value {
    this.#budget.spend(1);
    this.#skipSpaces();
    const char = this.#text[this.#at];
    switch (char) {
      case '{':
        return this.#nested(() => this.#object());
      case '[':
        return this.#nested(() => this.#array());
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      default:
        return char === '-' || (char !== undefined && char >= '0' && char <= '9')
          ? this.#number()
          : this.#fail(context);
    }
  }

  #nested<T>(read: () => T): T {
    if (this.#depth >= maxReadDepth) {
      throw new FunctionError(tooDeep);
    }
    this.#at++;
    this.#depth++;
    const value = read();
    this.#depth--;
    return value;
  }

  #word(word: string, value: boolean | null): Value {
    for (const char of word) {
      if (this.#text[this.#at] !== char) {
        this.#fail(`in literal ${word} (expecting ${quotedRune(char.charCodeAt(0))})`, true);
      }
      this.#at++;
    }
    return value;
  }

  #number(): Value {
    numberAt.lastIndex = this.#at;
    const text = numberAt.exec(this.#text)?.[0] ?? '';
    if (text === '') {
      this.#at++;
      this.#fail('in numeric literal', true);
    }
    const end = this.#at + text.length;
    const [, rest = ''] = /^([.eE][+-]?)/.exec(this.#text.slice(end, end + 2)) ?? [];
    if (rest.startsWith('.') ? !/[.eE]/.test(text) : rest !== '' && !/[eE]/.test(text)) {
      // What looks like a fraction or an exponent has no digits.
      this.#at = end + rest.length;
      this.#fail(rest === '.' ? 'after decimal point in numeric literal' : 'in exponent of numeric literal', true);
    }
    this.#at = end;
    const value = Number(text);
    if (!Number.isFinite(value)) {
      throw new FunctionError(`json: cannot unmarshal number ${text} into Go value of type float64`);
    }
    return value;
  }

  #string(): Bytes {
    const text = this.#text;
    let result = '';
    for (let at = this.#at + 1; ; ) {
      const char = text[at];
      if (char === undefined) {
        this.#at = at;
        this.#fail('');
      }
      if (char === '"') {
        this.#at = at + 1;
        return result;
      }
      if (char < ' ') {
        this.#at = at;
        this.#fail('in string literal');
      }
      if (char !== '\\') {
        const rune = runeAt(text, at);
        result += rune.isValid ? text.slice(at, at + rune.size) : bytesOfRune(runeError);
        at += rune.size;
        continue;
      }
      const code = text[at + 1] ?? '';
      const index = '"\\/bfnrt'.indexOf(code);
      if (code !== '' && index !== -1) {
        result += '"\\/\b\f\n\r\t'[index];
        at += 2;
        continue;
      }
      const unit = this.#unicode(at, code);
      at += 6;
      if (unit >= 0xd800 && unit < 0xdc00 && text.startsWith('\\u', at)) {
        const low = this.#unicode(at, 'u');
        if (low >= 0xdc00 && low < 0xe000) {
          result += bytesOfRune(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
          at += 6;
          continue;
        }
      }
      result += bytesOfRune(unit);
    }
  }

  /** The code in an code of four digits. */
  #unicode(at: number, code: string): number {
    if (code !== 'u') {
      this.#at = at + 1;
      this.#fail('in string escape code', true);
    }
    for (let digit = at + 2; digit < at + 6; digit++) {
      if (!/[0-9a-fA-F]/.test(this.#text[digit] ?? '')) {
        this.#at = digit;
        this.#fail('in \\u hexadecimal character escape', true);
      }
    }
    return Number.parseInt(this.#text.slice(at + 2, at + 6), 16);
  }

  #array(): List {
    const items: Value[] = [];
    this.#skipSpaces();
    if (this.#text[this.#at] === ']') {
      this.#at++;
      return new List(items);
    }
    for (;;) {
      items.push(this.#value('looking for beginning of value'));
      this.#skipSpaces();
      const char = this.#text[this.#at];
      if (char !== ',' && char !== ']') {
        this.#fail('after array element');
      }
      this.#at++;
      if (char === ']') {
        return new List(items);
      }
    }
  }

  #object(): Dict {
    const entries = new Map<Bytes, Value>();
    this.#skipSpaces();
    if (this.#text[this.#at] === '}') {
      this.#at++;
      return new Dict(entries);
    }
    for (;;) {
      this.#skipSpaces();
      if (this.#text[this.#at] !== '"') {
        this.#fail('looking for beginning of object key string');
      }
      const key = this.#string();
      this.#skipSpaces();
      if (this.#text[this.#at] !== ':') {
        this.#fail('after object key');
      }
      this.#at++;
      entries.set(key, this.#value('looking for beginning of value'));
      this.#skipSpaces();
      const char = this.#text[this.#at];
      if (char !== ',' && char !== '}') {
        this.#fail('after object key:value pair');
      }
      this.#at++;
      if (char === '}') {
        return new Dict(entries);
      }
    }
  }
}

/**
 * encoding/json's Unmarshal into an `interface {}`.
 *
 * @throws {FunctionError} with Go's message.
 */
export function decodeJson(text: Bytes, budget: Budget): Value {
  budget.read(text.length);
  return new Decoder(text, budget).decode();
}

/**
 * A value of JSON as encoding/json would read it.
 *
 * @throws {FunctionError} for a number that float64 does not have, and for what nests too deep.
 */
export function valueOfJson(json: Json, depth = 0): Value {
  if (depth > maxReadDepth) {
    throw new FunctionError(tooDeep);
  }
  if (typeof json === 'string') {
    return bytesOf(json);
  }
  if (Array.isArray(json)) {
    return new List(json.map((item) => valueOfJson(item, depth + 1)));
  }
  if (typeof json === 'object' && json !== null) {
    const entries = new Map<Bytes, Value>();
    for (const [key, value] of Object.entries(json)) {
      entries.set(bytesOf(key), valueOfJson(value, depth + 1));
    }
    return new Dict(entries);
  }
  if (typeof json === 'number' && !Number.isFinite(json)) {
    throw new FunctionError(`json: cannot unmarshal number ${json} into Go value of type float64`);
  }
  return json;
}
