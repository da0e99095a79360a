import {
  type Bytes,
  bytesOfRune,
  canBackquote,
  isPrintable,
  quoted,
  quotedRune,
  runeAt,
  runeCount,
} from '../../../base/go-text/index.ts';
import { type Budget, FunctionError, Text } from '../budget.ts';
import { formatFloat } from './numbers.ts';
import {
  Boxed,
  Complex,
  type Dict,
  Integer,
  integerOf,
  isUnsigned,
  List,
  type Operand,
  Struct,
  typeOf,
  type Value,
} from './values.ts';

/** Flags, width and precision of a verb. */
interface Flags {
  minus: boolean;
  plus: boolean;
  sharp: boolean;
  space: boolean;
  zero: boolean;
  /** `%+v` and `%#v`: fields of structs, and Go's syntax. */
  plusV: boolean;
  sharpV: boolean;
  width?: number | undefined;
  precision?: number | undefined;
}

function noFlags(): Flags {
  return { minus: false, plus: false, sharp: false, space: false, zero: false, plusV: false, sharpV: false };
}

/** Widths and precisions that fmt accepts. */
const maxWidth = 1_000_000;
/** Deepest nesting that is printed: nothing that a template can make gets there but by containing itself. */
const maxNesting = 1_000;

const flagNames: Readonly<Record<string, 'sharp' | 'zero' | 'plus' | 'minus' | 'space'>> = {
  '#': 'sharp',
  '0': 'zero',
  '+': 'plus',
  '-': 'minus',
  ' ': 'space',
};

/** A verb with its flags, width and precision, each of which an index such as `[2]` may go before. */
const verbShape =
  /%([-#0+ ]*)(\[[^\]]{0,9}\])?(\*|[0-9]+)?(?:(\.)(\[[^\]]{0,9}\])?(\*|[0-9]+)?)?(\[[^\]]{0,9}\])?(.)?/gs;

/** Formats of floats by verb, with their precision where none is given. */
const floatFormats: Readonly<Record<string, readonly [format: string, precision: number]>> = {
  v: ['g', -1],
  g: ['g', -1],
  G: ['G', -1],
  x: ['x', -1],
  X: ['X', -1],
  e: ['e', 6],
  E: ['E', 6],
  f: ['f', 6],
  F: ['f', 6],
};

/** Prints values as Go's package fmt does. */
class Printer {
  #flags = noFlags();
  #depth = 0;
  readonly #budget: Budget;
  readonly #output: Text;

  constructor(budget: Budget) {
    this.#budget = budget;
    this.#output = new Text(budget);
  }

  result(): Bytes {
    return this.#output.toString();
  }

  write(text: Bytes): void {
    this.#output.write(text);
  }

  #writePadding(count: number): void {
    if (count > 0) {
      this.#budget.write(count);
      this.write((this.#flags.zero && !this.#flags.minus ? '0' : ' ').repeat(count));
    }
  }

  #pad(text: Bytes): void {
    const missing = this.#flags.width === undefined ? 0 : this.#flags.width - runeCount(text);
    if (this.#flags.minus) {
      this.write(text);
      this.#writePadding(missing);
    } else {
      this.#writePadding(missing);
      this.write(text);
    }
  }

  #padWithoutZeros(text: Bytes): void {
    const { zero } = this.#flags;
    this.#flags.zero = false;
    this.#pad(text);
    this.#flags.zero = zero;
  }

  #bad(verb: number, value: Value): void {
    const name = bytesOfRune(verb);
    if (value === null) {
      this.write(`%!${name}(<nil>)`);
      return;
    }
    this.write(`%!${name}(${typeOf(value)}=`);
    this.print(value, 0x76, true);
    this.write(')');
  }

  #integer(size: bigint, verb: string): void {
    const flags = this.#flags;
    const bases: Readonly<Record<string, number>> = { b: 2, o: 8, O: 8, x: 16, X: 16 };
    const base = bases[verb] ?? 10;
    const isNegative = size < 0n;
    const magnitude = isNegative ? -size : size;
    let wanted = 0;
    if (flags.precision !== undefined) {
      wanted = flags.precision;
      if (wanted === 0 && magnitude === 0n) {
        this.#padWithoutZeros('');
        return;
      }
    } else if (flags.zero && !flags.minus && flags.width !== undefined) {
      wanted = flags.width - (isNegative || flags.plus || flags.space ? 1 : 0);
    }
    this.#budget.write(wanted);
    let digits = magnitude.toString(base).padStart(wanted, '0');
    if (verb === 'X') {
      digits = digits.toUpperCase();
    }
    if (flags.sharp) {
      digits =
        base === 2
          ? `0b${digits}`
          : base === 8 && !digits.startsWith('0')
            ? `0${digits}`
            : base === 16
              ? `0${verb}${digits}`
              : digits;
    }
    if (verb === 'O') {
      digits = `0o${digits}`;
    }
    this.#padWithoutZeros(`${isNegative ? '-' : flags.plus ? '+' : flags.space ? ' ' : ''}${digits}`);
  }

  #unicode(size: bigint): void {
    const { sharp, precision = 0 } = this.#flags;
    const code = BigInt.asUintN(64, size);
    this.#budget.write(precision);
    let text = `U+${code.toString(16).toUpperCase().padStart(Math.max(precision, 4), '0')}`;
    if (sharp && code <= 0x10ffffn && isPrintable(Number(code))) {
      text += ` '${bytesOfRune(Number(code))}'`;
    }
    this.#padWithoutZeros(text);
  }

  #anyInteger(value: bigint | Integer, verb: number): void {
    const size = typeof value === 'bigint' ? value : value.value;
    const letter = String.fromCodePoint(verb);
    const code = Number(size < 0n || size > 0x10ffffn ? 0xfffdn : size);
    if (letter === 'v' && this.#flags.sharpV && isUnsigned(value)) {
      const { sharp } = this.#flags;
      this.#flags.sharp = true;
      this.#integer(size, 'x');
      this.#flags.sharp = sharp;
    } else if ('vdboOxX'.includes(letter)) {
      this.#integer(size, letter);
    } else if (letter === 'c') {
      this.#pad(bytesOfRune(code));
    } else if (letter === 'q') {
      this.#pad(quotedRune(code, this.#flags.plus));
    } else if (letter === 'U') {
      this.#unicode(size);
    } else {
      this.#bad(verb, value);
    }
  }

  #float(value: number, format: string, defaultPrecision: number): void {
    const flags = this.#flags;
    const precision = flags.precision ?? defaultPrecision;
    this.#budget.write(Math.max(precision, 0));
    let text = formatFloat(value, format, precision);
    if (!/^[+-]/.test(text)) {
      text = `+${text}`;
    }
    if (flags.space && text.startsWith('+') && !flags.plus) {
      text = ` ${text.slice(1)}`;
    }
    if (text[1] === 'I' || text[1] === 'N') {
      const isBare = (text[1] === 'N' && !flags.space && !flags.plus) || (text[0] === '+' && !flags.plus);
      this.#padWithoutZeros(text[1] === 'N' && isBare ? text.slice(1) : text);
      return;
    }
    if (flags.sharp) {
      throw new FunctionError('a float is not printed with the flag # here');
    }
    if (flags.plus || !text.startsWith('+')) {
      if (flags.zero && !flags.minus && flags.width !== undefined && flags.width > text.length) {
        this.write(text[0] as string);
        this.#writePadding(flags.width - text.length);
        this.write(text.slice(1));
        return;
      }
      this.#pad(text);
      return;
    }
    this.#pad(text.slice(1));
  }

  #anyFloat(value: number, verb: number): boolean {
    const letter = String.fromCodePoint(verb);
    const [format, precision] = floatFormats[letter] ?? [];
    if (format === undefined || precision === undefined) {
      return false;
    }
    this.#float(value, format, precision);
    return true;
  }

  #complex(value: Complex, verb: number): void {
    if (floatFormats[String.fromCodePoint(verb)] === undefined) {
      this.#bad(verb, value);
      return;
    }
    const { plus } = this.#flags;
    this.write('(');
    this.#anyFloat(value.real, verb);
    this.#flags.plus = true;
    this.#anyFloat(value.imaginary, verb);
    this.write('i)');
    this.#flags.plus = plus;
  }

  /** The first characters of a text, as many as its precision. */
  #cut(text: Bytes): Bytes {
    const { precision } = this.#flags;
    if (precision === undefined) {
      return text;
    }
    let end = 0;
    for (let count = 0; count < precision && end < text.length; count++) {
      end += runeAt(text, end).size;
    }
    return text.slice(0, end);
  }

  #quoted(text: Bytes): void {
    const cut = this.#cut(text);
    this.#budget.read(cut.length * 4);
    this.#pad(this.#flags.sharp && canBackquote(cut) ? `\`${cut}\`` : quoted(cut, this.#flags.plus));
  }

  #hex(text: Bytes, isUpper: boolean): void {
    const { precision, sharp, space, width } = this.#flags;
    const bytes = precision === undefined ? text : text.slice(0, precision);
    if (bytes === '') {
      this.#writePadding(width ?? 0);
      return;
    }
    this.#budget.write(bytes.length * (space ? 5 : 2));
    const prefix = sharp ? (isUpper ? '0X' : '0x') : '';
    let hex = '';
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes.charCodeAt(index).toString(16).padStart(2, '0');
      hex += `${space && index > 0 ? ' ' : ''}${index === 0 || space ? prefix : ''}${isUpper ? byte.toUpperCase() : byte}`;
    }
    this.#pad(hex);
  }

  #text(text: Bytes, verb: number, value: Value): void {
    this.#budget.write(text.length);
    const letter = String.fromCodePoint(verb);
    if (letter === 'q' || (letter === 'v' && this.#flags.sharpV)) {
      this.#quoted(text);
    } else if (letter === 's' || letter === 'v') {
      this.#pad(this.#cut(text));
    } else if (letter === 'x' || letter === 'X') {
      this.#hex(text, letter === 'X');
    } else {
      this.#bad(verb, value);
    }
  }

  #element(value: Value, element: string, verb: number): void {
    if (value === null) {
      this.write(this.#flags.sharpV ? `${element}(nil)` : '<nil>');
    } else {
      this.print(value, verb, true);
    }
  }

  #list(list: List, verb: number): void {
    const { sharpV } = this.#flags;
    if (sharpV && list.isNil) {
      this.write(`${typeOf(list)}(nil)`);
      return;
    }
    this.#sequence(sharpV ? `${typeOf(list)}{` : '[', list.items, sharpV ? '}' : ']', (item) =>
      this.#element(item, list.element, verb),
    );
  }

  /** Writes parts with what separates them. */
  #sequence<T>(open: string, parts: readonly T[], close: string, write: (part: T) => void): void {
    this.write(open);
    for (const [index, part] of parts.entries()) {
      this.write(index === 0 ? '' : this.#flags.sharpV ? ', ' : ' ');
      write(part);
    }
    this.write(close);
  }

  #dict(dict: Dict, verb: number): void {
    const { sharpV } = this.#flags;
    if (sharpV && dict.isNil) {
      this.write(`${typeOf(dict)}(nil)`);
      return;
    }
    this.#sequence(sharpV ? `${typeOf(dict)}{` : 'map[', dict.keys(), sharpV ? '}' : ']', (key) => {
      this.print(key, verb, true);
      this.write(':');
      this.#element(dict.entries.get(key) ?? null, dict.element, verb);
    });
  }

  #struct(struct: Struct, verb: number): void {
    const { sharpV, plusV } = this.#flags;
    const text = struct.text();
    if (text !== undefined && !sharpV && 'vsxXq'.includes(String.fromCodePoint(verb))) {
      this.#text(text, verb, struct);
      return;
    }
    this.write(struct.kind === 'ptr' ? '&' : '');
    this.#sequence(sharpV ? `${struct.type.replace('*', '')}{` : '{', struct.fields(), '}', (field) => {
      this.write(sharpV || plusV ? `${field.name}:` : '');
      this.#element(field.value, field.type, verb);
    });
  }

  print(value: Value, verb: number, isNested = false): void {
    this.#budget.spend(isNested ? 1 : 0);
    if (value === null) {
      if (verb === 0x54 || verb === 0x76) {
        this.#pad('<nil>');
      } else {
        this.#bad(verb, null);
      }
      return;
    }
    if (!isNested && verb === 0x54) {
      this.#text(typeOf(value), 0x73, value);
      return;
    }
    if (this.#depth >= maxNesting) {
      this.#budget.spend(Number.POSITIVE_INFINITY);
    }
    this.#depth++;
    this.#value(value, verb);
    this.#depth--;
  }

  #value(value: Exclude<Value, null>, verb: number): void {
    switch (typeof value) {
      case 'boolean':
        if (verb === 0x74 || verb === 0x76) {
          this.#pad(String(value));
        } else {
          this.#bad(verb, value);
        }
        return;
      case 'string':
        this.#text(value, verb, value);
        return;
      case 'number':
        if (!this.#anyFloat(value, verb)) {
          this.#bad(verb, value);
        }
        return;
      case 'bigint':
        this.#anyInteger(value, verb);
        return;
      default:
        if (value instanceof Integer) {
          this.#anyInteger(value, verb);
        } else if (value instanceof Complex) {
          this.#complex(value, verb);
        } else if (verb === 0x77) {
          // %w is for errors, in another function of fmt.
          this.#bad(verb, value);
        } else if (value instanceof Struct) {
          this.#struct(value, verb);
        } else if (verb === 0x70) {
          // An address: it differs each time.
          this.#bad(verb, value);
        } else if (value instanceof List) {
          this.#list(value, verb);
        } else {
          this.#dict(value, verb);
        }
    }
  }

  format(format: Bytes, args: readonly Value[]): void {
    let argument = 0;
    let isReordered = false;
    let isGood = true;
    /** Takes the number in an index such as `[2]`. */
    const readIndex = (index: string | undefined): void => {
      if (index !== undefined) {
        isReordered = true;
        const number = /^\[[0-9]{1,7}\]$/.test(index) ? Number(index.slice(1, -1)) : 0;
        isGood &&= number >= 1 && number <= args.length;
        argument = isGood ? number - 1 : argument;
      }
    };
    const readSize = (size: string | undefined, problem: string): number | undefined => {
      if (size !== '*') {
        return size === undefined ? undefined : Number(size);
      }
      const value = Number(integerOf(args[argument]) ?? Number.NaN);
      argument += argument < args.length ? 1 : 0;
      if (Math.abs(value) <= maxWidth) {
        return value;
      }
      this.write(problem);
      return undefined;
    };
    let last = 0;
    for (const match of format.matchAll(verbShape)) {
      const [whole, names = '', index, width, point, pointIndex, precision, verbIndex, letter] = match;
      this.write(format.slice(last, match.index));
      last = match.index + whole.length;
      this.#budget.spend(1);
      isGood = true;
      const flags = noFlags();
      this.#flags = flags;
      for (const name of names) {
        flags[flagNames[name] as 'sharp'] = true;
      }
      readIndex(index);
      isGood &&= index === undefined || width === undefined || width === '*';
      flags.width = readSize(width, '%!(BADWIDTH)');
      if (flags.width !== undefined && flags.width < 0) {
        Object.assign(flags, { width: -flags.width, minus: true, zero: false });
      }
      if (point !== undefined) {
        isGood &&= index === undefined || width === '*';
        readIndex(pointIndex);
        flags.precision = readSize(precision ?? '0', '%!(BADPREC)');
        flags.precision = (flags.precision ?? -1) < 0 ? undefined : flags.precision;
      }
      readIndex(verbIndex);
      // Go gives up on a number that is too large.
      if (letter === undefined || [width, precision].some((size) => Number(size) > maxWidth)) {
        this.write('%!(NOVERB)');
        last = letter === undefined ? last : format.length;
        break;
      }
      const { code: verb, size } = runeAt(format, last - 1);
      last += size - 1;
      if (verb === 0x25) {
        this.write('%');
      } else if (!isGood) {
        this.write(`%!${bytesOfRune(verb)}(BADINDEX)`);
      } else if (argument >= args.length) {
        this.write(`%!${bytesOfRune(verb)}(MISSING)`);
      } else {
        if (verb === 0x76 || verb === 0x77) {
          Object.assign(flags, { sharpV: flags.sharp, sharp: false, plusV: flags.plus, plus: false });
        }
        this.print(args[argument] ?? null, verb);
        argument++;
      }
    }
    this.write(format.slice(last));
    if (!isReordered && argument < args.length) {
      this.#flags = noFlags();
      this.#extra(args.slice(argument));
    }
  }

  #extra(args: readonly Value[]): void {
    this.write('%!(EXTRA ');
    for (const [index, value] of args.entries()) {
      this.write(`${index > 0 ? ', ' : ''}${value === null ? '<nil>' : `${typeOf(value)}=`}`);
      if (value !== null) {
        this.print(value, 0x76);
      }
    }
    this.write(')');
  }
}

/** fmt.Sprintf. */
export function sprintf(budget: Budget, format: Bytes, args: readonly Value[]): Bytes {
  const printer = new Printer(budget);
  printer.format(format, args);
  return printer.result();
}

/** fmt.Sprint: spaces between operands of which neither is a string. */
export function sprint(budget: Budget, args: readonly Value[]): Bytes {
  if (args.length === 1 && typeof args[0] === 'string') {
    return args[0];
  }
  const printer = new Printer(budget);
  for (const [index, value] of args.entries()) {
    if (index > 0 && typeof value !== 'string' && typeof args[index - 1] !== 'string') {
      printer.write(' ');
    }
    printer.print(value, 0x76);
  }
  return printer.result();
}

/** fmt.Sprintln: spaces between all operands. */
export function sprintln(budget: Budget, args: readonly Value[]): Bytes {
  const printer = new Printer(budget);
  for (const [index, value] of args.entries()) {
    printer.write(index > 0 ? ' ' : '');
    printer.print(value, 0x76);
  }
  return `${printer.result()}\n`;
}

/** An operand as a verb of fmt prints it, when Go passes it as a reflect.Value. */
export function showOperand(budget: Budget, operand: Operand, verb: 's' | 'v'): Bytes {
  if (operand === undefined) {
    return '<invalid reflect.Value>';
  }
  return sprintf(budget, `%${verb}`, [operand instanceof Boxed ? operand.value : operand]);
}
