import {
  type Bytes,
  bytesOf,
  bytesOfRune,
  decoded,
  type JsonMistake,
  jsonMistake,
  jsonSyntaxError,
  runesOf,
} from '../../../base/go-text/index.ts';
import type { Json } from '../../../kubernetes/index.ts';
import { type Budget, FunctionError, Text } from '../budget.ts';
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

/** Why encoding/json's Unmarshal refuses a text. A word or a number that ends with it is followed by a space. */
function problemOf(text: Bytes, { at, place }: JsonMistake): string {
  const isWithin = /^(?:in|after decimal)/.test(place) && place !== 'in string literal';
  const character = text[at] ?? (isWithin ? ' ' : undefined);
  return character === undefined ? 'unexpected end of JSON input' : bytesOf(jsonSyntaxError(character, place));
}

/**
 * encoding/json's Unmarshal into an `interface {}`.
 *
 * @throws {FunctionError} with Go's message.
 */
export function decodeJson(text: Bytes, budget: Budget): Value {
  budget.read(text.length);
  const mistake = jsonMistake(text, true);
  if (mistake !== undefined) {
    throw new FunctionError(problemOf(text, mistake));
  }
  const numbers = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').match(/-?[0-9][0-9.eE+-]*/g) ?? [];
  const infinite = numbers.find((number) => !Number.isFinite(Number(number)));
  if (infinite !== undefined) {
    throw new FunctionError(`json: cannot unmarshal number ${infinite} into Go value of type float64`);
  }
  return valueOfJson(JSON.parse(decoded(text)) as Json, 0, budget);
}

/**
 * A value of JSON as encoding/json would read it.
 *
 * @throws {FunctionError} for a number that float64 does not have, and for what nests too deep.
 */
export function valueOfJson(json: Json, depth = 0, budget?: Budget): Value {
  budget?.spend(1);
  if (depth > maxReadDepth) {
    throw new FunctionError(tooDeep);
  }
  if (typeof json === 'string') {
    return bytesOf(json);
  }
  if (Array.isArray(json)) {
    return new List(json.map((item) => valueOfJson(item, depth + 1, budget)));
  }
  if (typeof json === 'object' && json !== null) {
    const entries = new Map<Bytes, Value>();
    for (const [key, value] of Object.entries(json)) {
      entries.set(bytesOf(key), valueOfJson(value, depth + 1, budget));
    }
    return new Dict(entries);
  }
  if (typeof json === 'number' && !Number.isFinite(json)) {
    throw new FunctionError(`json: cannot unmarshal number ${json} into Go value of type float64`);
  }
  return json;
}
