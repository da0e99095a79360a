import {
  type Bytes,
  bytesOfRune,
  firstRunes,
  quoted,
  quotedRune,
  runeAt,
  runeCount,
} from '../../../base/go-text/index.ts';
import { NotKnown } from '../../world/not-known.ts';
import type { Budget } from '../budget.ts';
import { formatFloat, maxPrecision } from './numbers.ts';
import { type Dict, type Integer, integerOf, List, Struct, typeOf, type Value } from './values.ts';

/** Widths and precisions that fmt accepts. */
const maxWidth = 1_000_000;

/** A verb with its flags, width and precision; `*`, which takes the next argument, and the verb may have an index such as `[2]`. */
const verbShape =
  /%([-#0+ ]*)((?:\[[0-9]{1,7}\])?\*|[0-9]+)?(?:(\.)((?:\[[0-9]{1,7}\])?\*|[0-9]+)?)?(\[[0-9]{1,7}\])?(.)?/gs;

function notKnown(verb: string): NotKnown {
  return new NotKnown(`the template prints with ${verb}, whose result is not computed`, {
    remedy: 'print with %s, %d or %q, without flags',
  });
}

const bases: Readonly<Record<string, number>> = { v: 10, d: 10, b: 2, o: 8, O: 8, x: 16, X: 16 };

/** Prints values as Go's package fmt does by a verb: with its flags, width and precision. */
class Verb {
  readonly #budget: Budget;
  readonly #flags: string;
  /** `%#v`: Go's syntax. */
  readonly #isGo: boolean;
  readonly #width: number;
  readonly #precision: number | undefined;

  constructor(budget: Budget, letter = 'v', flags = '', width = 0, precision?: number) {
    this.#budget = budget;
    this.#isGo = letter === 'v' && flags.includes('#');
    this.#flags = letter === 'v' ? flags.replaceAll(/[#+]/g, '') : flags;
    this.#width = width;
    this.#precision = precision;
  }

  #has(flag: '-' | '+' | '#' | ' ' | '0'): boolean {
    return this.#flags.includes(flag);
  }

  #pad(text: Bytes, filler = this.#has('0') ? '0' : ' '): Bytes {
    const missing = Math.max(this.#width - runeCount(text), 0);
    this.#budget.write(missing);
    return this.#has('-') ? text + ' '.repeat(missing) : filler.repeat(missing) + text;
  }

  #bad(letter: Bytes, value: Value): Bytes {
    return `%!${letter}(${value === null ? '<nil>' : `${typeOf(value)}=${this.show(value, 'v', true)}`})`;
  }

  #zeros(sign: string): number {
    return this.#has('0') && !this.#has('-') ? this.#width - sign.length : 0;
  }

  #integer(value: bigint | Integer, letter: Bytes): Bytes {
    const size = integerOf(value) ?? 0n;
    const code = Number(size < 0n || size > 0x10ffffn ? 0xfffdn : size);
    const base = bases[letter];
    if (letter === 'c' || letter === 'q') {
      return this.#pad(letter === 'c' ? bytesOfRune(code) : quotedRune(code));
    }
    if (letter === 'U') {
      return this.#pad(`U+${BigInt.asUintN(64, size).toString(16).toUpperCase().padStart(4, '0')}`, ' ');
    }
    if (base === undefined) {
      return this.#bad(letter, value);
    }
    if (this.#precision === 0 && size === 0n) {
      return this.#pad('', ' ');
    }
    const sign = size < 0n ? '-' : this.#has('+') ? '+' : this.#has(' ') ? ' ' : '';
    const wanted = this.#precision ?? this.#zeros(sign);
    this.#budget.write(wanted);
    const lower = (size < 0n ? -size : size).toString(base).padStart(wanted, '0');
    const digits = letter === 'X' ? lower.toUpperCase() : lower;
    const zero = base === 16 ? '0x' : digits.startsWith('0') ? '' : '0';
    const prefix = letter === 'O' ? '0o' : this.#has('#') ? zero : '';
    return this.#pad(`${sign}${prefix}${digits}`, ' ');
  }

  #float(value: number, letter: Bytes): Bytes {
    if (!/^[vgGxXeEfF]$/.test(letter)) {
      return this.#bad(letter, value);
    }
    const verb = letter.toLowerCase();
    const precision = this.#precision ?? (verb === 'e' || verb === 'f' ? 6 : -1);
    this.#budget.write(precision);
    const isNegative = value < 0 || Object.is(value, -0);
    const showsPlus = this.#has('+') || value === Number.POSITIVE_INFINITY;
    const positive = showsPlus ? '+' : this.#has(' ') ? ' ' : '';
    const sign = isNegative ? '-' : positive;
    if (!Number.isFinite(value)) {
      return this.#pad(`${sign}${Number.isNaN(value) ? 'NaN' : 'Inf'}`, ' ');
    }
    if (this.#has('#') || precision > maxPrecision) {
      throw notKnown(`%${this.#flags}.${precision}${letter}`);
    }
    const digits = formatFloat(Math.abs(value), verb, precision);
    const shown = letter === verb ? digits : digits.toUpperCase();
    return this.#pad(sign + shown.padStart(this.#zeros(sign), '0'), ' ');
  }

  #cut(text: Bytes): Bytes {
    return this.#precision === undefined ? text : firstRunes(text, this.#precision);
  }

  #quoted(text: Bytes): Bytes {
    const cut = this.#cut(text);
    this.#budget.read(cut.length * 4);
    return this.#pad(quoted(cut));
  }

  #hex(text: Bytes, letter: 'x' | 'X'): Bytes {
    const bytes = text.slice(0, this.#precision);
    this.#budget.write(bytes.length * 5);
    if (this.#has('#')) {
      throw notKnown(`%#${letter}`);
    }
    const digits = Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0'));
    const hex = digits.join(this.#has(' ') ? ' ' : '');
    return this.#pad(letter === 'X' ? hex.toUpperCase() : hex);
  }

  #text(text: Bytes, letter: Bytes, value: Value): Bytes {
    this.#budget.write(text.length);
    if (letter === 'q' || (letter === 'v' && this.#isGo)) {
      return this.#quoted(text);
    }
    if (letter === 's' || letter === 'v') {
      return this.#pad(this.#cut(text));
    }
    return letter === 'x' || letter === 'X' ? this.#hex(text, letter) : this.#bad(letter, value);
  }

  #collection<T>(value: List | Dict, parts: readonly T[], show: (part: T) => Bytes): Bytes {
    if (this.#isGo && value.isNil) {
      return `${typeOf(value)}(nil)`;
    }
    let text = this.#isGo ? `${typeOf(value)}{` : value instanceof List ? '[' : 'map[';
    for (const [index, part] of parts.entries()) {
      text += (index === 0 ? '' : this.#isGo ? ', ' : ' ') + show(part);
    }
    return text + (this.#isGo ? '}' : ']');
  }

  show(value: Value, letter: Bytes, isNested = false): Bytes {
    if (value === null) {
      return letter === 'T' || letter === 'v' ? this.#pad('<nil>') : this.#bad(letter, null);
    }
    if (!isNested && letter === 'T') {
      return this.#pad(this.#cut(typeOf(value)));
    }
    return this.#budget.nested(() => this.#value(value, letter));
  }

  #value(value: Exclude<Value, null>, letter: Bytes): Bytes {
    switch (typeof value) {
      case 'boolean':
        return letter === 't' || letter === 'v' ? this.#pad(String(value)) : this.#bad(letter, value);
      case 'string':
        return this.#text(value, letter, value);
      case 'number':
        return this.#float(value, letter);
      case 'bigint':
        return this.#integer(value, letter);
    }
    if (value instanceof Struct) {
      if (!'vsq'.includes(letter)) {
        throw new NotKnown(`the template prints a ${value.type} with %${letter}`, { remedy: 'print it with %s' });
      }
      return this.#text(value.text(), letter, value);
    }
    const element = (item: Value, type: string): Bytes =>
      item === null ? (this.#isGo ? `${type}(nil)` : '<nil>') : this.show(item, letter, true);
    if (value instanceof List) {
      return this.#collection(value, value.items, (item) => element(item, value.element));
    }
    return 'entries' in value
      ? this.#collection(
          value,
          value.keys(),
          (key) => `${this.show(key, letter, true)}:${element(value.entries.get(key) ?? null, value.element)}`,
        )
      : this.#integer(value, letter);
  }
}

/** fmt.Sprintf. */
export function sprintf(budget: Budget, format: Bytes, args: readonly Value[]): Bytes {
  let text = '';
  let argument = 0;
  let isReordered = false;
  const readIndex = (index: string | undefined): void => {
    if (index !== undefined && index !== '') {
      isReordered = true;
      argument = Number(index.slice(1, -1)) - 1;
    }
  };
  const readSize = (size: string | undefined, whole: string): number | undefined => {
    if (size === undefined) {
      return undefined;
    }
    const isArgument = size.endsWith('*');
    readIndex(isArgument ? size.slice(0, -1) : undefined);
    const value = Number(isArgument ? integerOf(args[argument++]) : size);
    if (!(value >= 0 && value <= maxWidth)) {
      throw notKnown(whole);
    }
    return value;
  };
  let last = 0;
  for (const match of format.matchAll(verbShape)) {
    const [whole, flags = '', width, point, precision, index, first] = match;
    text += format.slice(last, match.index);
    last = match.index + whole.length;
    budget.spend(1);
    const size = readSize(width, whole);
    const digits = point === undefined ? undefined : readSize(precision ?? '0', whole);
    readIndex(index);
    if (first === undefined) {
      text += '%!(NOVERB)';
      break;
    }
    const letter = format.slice(last - 1, last - 1 + runeAt(format, last - 1).size);
    last += letter.length - 1;
    const isRare = (flags.includes('#') && !'vxo'.includes(letter)) || (flags.includes('+') && 'qx'.includes(letter));
    if (isRare || '[.'.includes(letter) || argument < 0 || (index !== undefined && argument >= args.length)) {
      throw notKnown(whole);
    }
    if (letter === '%') {
      text += '%';
    } else if (argument >= args.length) {
      text += `%!${letter}(MISSING)`;
    } else {
      text += new Verb(budget, letter, flags, size, digits).show(args[argument] ?? null, letter);
      argument++;
    }
  }
  text += format.slice(last);
  if (isReordered || argument >= args.length) {
    return text;
  }
  const extra = args
    .slice(argument)
    .map((value) => (value === null ? '<nil>' : `${typeOf(value)}=${new Verb(budget).show(value, 'v')}`));
  return `${text}%!(EXTRA ${extra.join(', ')})`;
}

/** fmt.Sprint: spaces between operands of which neither is a string. */
export function sprint(budget: Budget, args: readonly Value[]): Bytes {
  let text = '';
  for (const [index, value] of args.entries()) {
    text += index > 0 && typeof value !== 'string' && typeof args[index - 1] !== 'string' ? ' ' : '';
    text += new Verb(budget).show(value, 'v');
  }
  return text;
}

/** fmt.Sprintln: spaces between all operands. */
export const sprintln = (budget: Budget, args: readonly Value[]): Bytes =>
  `${args.map((value) => new Verb(budget).show(value, 'v')).join(' ')}\n`;
