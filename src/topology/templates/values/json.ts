import type { Json } from '../../../kubernetes/index.ts';
import { type Budget, FunctionError, Text } from '../budget.ts';
import { type Bytes, bytesOf, bytesOfRune, decoded, quotedRune, runesOf } from './bytes.ts';
import { formatFloat } from './numbers.ts';
import { Complex, Dict, Integer, List, Struct, type Value } from './values.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
const special = /["\\\x00-\x1f<>&]|[\x80-\xff]+/g;

function encodedText(text: Bytes, escapesHtml: boolean): Bytes {
  const inner = text.replaceAll(special, (run) => {
    let result = '';
    for (const { code, size, isValid } of runesOf(run)) {
      const isEscaped = code === 0x2028 || code === 0x2029 || (escapesHtml && /[<>&]/.test(run));
      result +=
        !isValid && size === 1
          ? '\\ufffd'
          : isEscaped
            ? `\\u${code.toString(16).padStart(4, '0')}`
            : code < 0x80
              ? JSON.stringify(run).slice(1, -1)
              : bytesOfRune(code);
    }
    return result;
  });
  return `"${inner}"`;
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
// biome-ignore lint/suspicious/noControlCharactersInRegex: a string has none
const stringAt = /"(?:[^"\\\x00-\x1f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;

/** Checks JSON as encoding/json does, which names the first character that it does not like. */
class Checker {
  readonly #text: Bytes;
  readonly #budget: Budget;
  #at = 0;
  #depth = 0;
  #infinite: string | undefined;

  constructor(text: Bytes, budget: Budget) {
    this.#text = text;
    this.#budget = budget;
  }

  check(): void {
    this.#value();
    if (this.#next() !== undefined) {
      this.#fail('after top-level value');
    }
    if (this.#infinite !== undefined) {
      throw new FunctionError(`json: cannot unmarshal number ${this.#infinite} into Go value of type float64`);
    }
  }

  /** The next character that is not white space. */
  #next(): string | undefined {
    while (' \t\r\n'.includes(this.#text[this.#at] ?? 'x')) {
      this.#at++;
    }
    return this.#text[this.#at];
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

  #value(): void {
    this.#budget.spend(1);
    const char = this.#next() ?? '';
    if (char === '{' || char === '[') {
      this.#items(char);
    } else if (char === '"') {
      this.#string();
    } else if (/[-0-9]/.test(char)) {
      this.#number();
    } else {
      const word = ['true', 'false', 'null'].find((one) => one[0] === char);
      this.#word(word ?? this.#fail('looking for beginning of value'));
    }
  }

  #items(open: '{' | '['): void {
    const [close, after] = open === '{' ? ['}', 'after object key:value pair'] : [']', 'after array element'];
    if (this.#depth >= maxReadDepth) {
      throw new FunctionError(tooDeep);
    }
    this.#depth++;
    this.#at++;
    if (this.#next() !== close) {
      do {
        if (open === '{') {
          this.#key();
        }
        this.#value();
        if (this.#next() !== close && this.#next() !== ',') {
          this.#fail(after as string);
        }
      } while (this.#text[this.#at++] === ',');
    } else {
      this.#at++;
    }
    this.#depth--;
  }

  #key(): void {
    if (this.#next() !== '"') {
      this.#fail('looking for beginning of object key string');
    }
    this.#string();
    if (this.#next() !== ':') {
      this.#fail('after object key');
    }
    this.#at++;
  }

  #word(word: string): void {
    for (const char of word) {
      if (this.#text[this.#at] !== char) {
        this.#fail(`in literal ${word} (expecting ${quotedRune(char.charCodeAt(0))})`, true);
      }
      this.#at++;
    }
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #number(): void {
    const text = this.#take(numberAt);
    if (text === '') {
      this.#at++;
      this.#fail('in numeric literal', true);
    }
    const [rest = ''] = /^[.eE][+-]?/.exec(this.#text.slice(this.#at, this.#at + 2)) ?? [];
    if (rest.startsWith('.') ? !/[.eE]/.test(text) : rest !== '' && !/[eE]/.test(text)) {
      // What looks like a fraction or an exponent has no digits.
      this.#at += rest.startsWith('.') ? 1 : rest.length;
      this.#fail(
        rest.startsWith('.') ? 'after decimal point in numeric literal' : 'in exponent of numeric literal',
        true,
      );
    }
    if (!Number.isFinite(Number(text))) {
      this.#infinite ??= text;
    }
  }

  #string(): void {
    this.#take(stringAt);
    const char = this.#text[this.#at];
    if (char === '\\') {
      this.#at++;
      if (this.#text[this.#at] !== 'u') {
        this.#fail('in string escape code', true);
      }
      this.#at++;
      this.#take(/[0-9a-fA-F]*/y);
      this.#fail('in \\u hexadecimal character escape', true);
    }
    if (char !== '"') {
      this.#fail('in string literal');
    }
    this.#at++;
  }
}

/**
 * encoding/json's Unmarshal into an `interface {}`.
 *
 * @throws {FunctionError} with Go's message.
 */
export function decodeJson(text: Bytes, budget: Budget): Value {
  budget.read(text.length);
  new Checker(text, budget).check();
  return valueOfJson(JSON.parse(decoded(text)) as Json);
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
