import type { Bytes } from '../../../base/go-text/index.ts';
import { FunctionError } from '../budget.ts';

/** Why a text is not a number, as strconv words it. */
export type NumberProblem = 'invalid syntax' | 'value out of range';

const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;
const maxUint64 = 2n ** 64n - 1n;

/** An integer that may have overflowed, as Go keeps 64 bits of it. */
export function wrapped(value: bigint): bigint {
  return BigInt.asIntN(64, value);
}

/** Digits of base 16, 2, 8 and 10. An underscore may stand between digits, and after the prefix. */
const prefixed = /^(?:0[xX]((?:_?[0-9a-fA-F])+)|0[bB]((?:_?[01])+)|0[oO]?((?:_?[0-7])+)|(0|[1-9](?:_?[0-9])*))$/;
const prefixes = ['', '0x', '0b', '0o', ''];
const digitsOfBase: Readonly<Record<number, RegExp>> = { 8: /^[0-7]+$/, 10: /^[0-9]+$/ };

/** More digits than 64 bits have in any base. A number with more is out of range without being computed. */
const maxDigits = 70;

function magnitude(text: Bytes, base: 0 | 8 | 10): bigint | NumberProblem {
  const groups = base === 0 ? prefixed.exec(text) : digitsOfBase[base]?.exec(text);
  if (groups === null || groups === undefined) {
    return 'invalid syntax';
  }
  const group = base === 0 ? groups.findIndex((found, index) => index > 0 && found !== undefined) : 0;
  const digits = (groups[group] ?? '').replaceAll('_', '').replace(/^0+/, '');
  if (digits.length > maxDigits) {
    return 'value out of range';
  }
  return BigInt(`${base === 8 ? '0o' : prefixes[group]}${digits === '' ? '0' : digits}`);
}

/** strconv.ParseInt with 64 bits; base 0 reads prefixes. */
export function parseInt64(text: Bytes, base: 0 | 8 | 10): bigint | NumberProblem {
  const size = magnitude(text.replace(/^[+-]/, ''), base);
  if (typeof size === 'string') {
    return size;
  }
  const value = text.startsWith('-') ? -size : size;
  return value < minInt64 || value > maxInt64 ? 'value out of range' : value;
}

/** strconv.ParseInt where its error is ignored: what is out of range is the nearest number, and other text 0. */
export function parsedInt64(text: Bytes): bigint {
  const parsed = parseInt64(text, 10);
  return typeof parsed === 'bigint'
    ? parsed
    : parsed === 'invalid syntax'
      ? 0n
      : text.startsWith('-')
        ? minInt64
        : maxInt64;
}

/** strconv.ParseUint with 64 bits; base 0 reads prefixes. */
export function parseUint64(text: Bytes, base: 0 | 10): bigint | NumberProblem {
  const value = magnitude(text, base);
  return typeof value === 'bigint' && value > maxUint64 ? 'value out of range' : value;
}

const special = /^(?:([+-]?)inf(?:inity)?|nan)$/i;
const decimal =
  /^[+-]?(?:[0-9]+(?:_[0-9]+)*(?:\.(?:[0-9]+(?:_[0-9]+)*)?)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][+-]?[0-9]+(?:_[0-9]+)*)?$/;
const hexadecimal =
  /^([+-]?)0[xX](?=_?[0-9a-fA-F.])_?([0-9a-fA-F]*(?:_[0-9a-fA-F]+)*)(?:\.([0-9a-fA-F]*(?:_[0-9a-fA-F]+)*))?[pP]([+-]?[0-9]+)$/;

/** strconv.ParseFloat. Infinite numbers are only read by name. */
export function parseFloat64(text: Bytes): number | NumberProblem {
  const named = special.exec(text);
  if (named !== null) {
    return /nan/i.test(text) ? Number.NaN : named[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  let value: number;
  if (decimal.test(text)) {
    value = Number(text.replaceAll('_', ''));
  } else {
    const [, sign = '', whole = '', fraction = '', exponent = ''] = hexadecimal.exec(text) ?? [];
    const digits = `${whole}${fraction}`.replaceAll('_', '');
    if (digits === '') {
      return 'invalid syntax';
    }
    const power = Number(exponent) - 4 * fraction.replaceAll('_', '').length;
    value = Number(`0x${digits}`) * 2 ** power * (sign === '-' ? -1 : 1);
  }
  return Number.isFinite(value) ? value : 'value out of range';
}

/** Digits without zeros at their end. */
export function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') {
    end--;
  }
  return digits.slice(0, end);
}

/** A float64 as mantissa times a power of two. */
export function partsOf(value: number): { mantissa: bigint; power: number } {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(value));
  const bits = view.getBigUint64(0);
  const exponent = Number(bits >> 52n);
  const fraction = bits & (2n ** 52n - 1n);
  return exponent === 0
    ? { mantissa: fraction, power: -1074 }
    : { mantissa: fraction | (2n ** 52n), power: exponent - 1075 };
}

/** A positive float64 times a power of ten, rounded to an integer, ties to even. */
function roundedTimesTen(value: number, power: number): bigint {
  const { mantissa, power: binary } = partsOf(value);
  let numerator = mantissa;
  let denominator = 1n;
  if (power >= 0) {
    numerator *= 10n ** BigInt(power);
  } else {
    denominator *= 10n ** BigInt(-power);
  }
  if (binary >= 0) {
    numerator <<= BigInt(binary);
  } else {
    denominator <<= BigInt(-binary);
  }
  const quotient = numerator / denominator;
  const twice = 2n * (numerator - quotient * denominator);
  return twice > denominator || (twice === denominator && (quotient & 1n) === 1n) ? quotient + 1n : quotient;
}

/** No float64 has more digits than that after its point. */
const maxFraction = 1_100;

/** Digits of a positive number and where the point is: 0.digits times ten to the power of point. */
interface Digits {
  digits: string;
  point: number;
}

function shortest(value: number): Digits {
  if (value === 0) {
    return { digits: '', point: 0 };
  }
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  return { digits: mantissa.replace('.', ''), point: Number(exponent) + 1 };
}

/** With as many significant digits, rounded to even. */
function significant(value: number, count: number): Digits {
  if (value === 0) {
    return { digits: '0'.repeat(count), point: 1 };
  }
  const { point } = shortest(value);
  const wanted = Math.min(count, maxFraction);
  let at = point;
  let digits = String(roundedTimesTen(value, wanted - at));
  if (digits.length > wanted) {
    at++;
    digits = digits.slice(0, wanted);
  }
  return { digits: digits.padEnd(count, '0'), point: at };
}

function exponential({ digits, point }: Digits, precision: number, letter: string): string {
  const exponent = digits === '' || /^0+$/.test(digits) ? 0 : point - 1;
  const fraction = digits.slice(1, precision + 1).padEnd(precision, '0');
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `${digits[0] ?? '0'}${precision > 0 ? `.${fraction}` : ''}${letter}${exponent < 0 ? '-' : '+'}${size}`;
}

function positional({ digits, point }: Digits, precision: number): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  const fraction = (point < 0 ? '0'.repeat(Math.min(-point, precision)) + digits : digits.slice(Math.max(point, 0)))
    .slice(0, precision)
    .padEnd(precision, '0');
  return precision > 0 ? `${whole}.${fraction}` : whole;
}

function fixed(value: number, precision: number): string {
  const wanted = Math.min(precision, maxFraction);
  const digits = String(roundedTimesTen(value, wanted)).padStart(wanted + 1, '0');
  const whole = digits.slice(0, digits.length - wanted);
  const fraction = digits.slice(digits.length - wanted).padEnd(precision, '0');
  return precision > 0 ? `${whole}.${fraction}` : whole;
}

/** Hexadecimal, with all digits. */
function hexFloat(value: number): string {
  if (value === 0) {
    return '0x0p+00';
  }
  const { mantissa, power } = partsOf(value);
  const shift = 53 - mantissa.toString(2).length;
  const exponent = power - shift + 52;
  const bits = (mantissa << BigInt(shift)) & (2n ** 52n - 1n);
  const fraction = withoutTrailingZeros(bits.toString(16).padStart(13, '0'));
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `0x1${fraction === '' ? '' : `.${fraction}`}p${exponent < 0 ? '-' : '+'}${size}`;
}

/**
 * strconv.FormatFloat with 64 bits: `format` is one of its letters, and a precision of -1 gives as many digits as are needed
 * to read the same number again.
 */
export function formatFloat(value: number, format: string, precision: number): string {
  if (Number.isNaN(value)) {
    return 'NaN';
  }
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  if (!Number.isFinite(value)) {
    return `${value < 0 ? '-' : '+'}Inf`;
  }
  const size = Math.abs(value);
  const letter = format === 'E' || format === 'G' ? 'E' : 'e';
  switch (format) {
    case 'e':
    case 'E': {
      const digits = precision < 0 ? shortest(size) : significant(size, precision + 1);
      return sign + exponential(digits, precision < 0 ? Math.max(digits.digits.length - 1, 0) : precision, letter);
    }
    case 'f':
    case 'F': {
      if (precision >= 0) {
        return sign + fixed(size, precision);
      }
      const digits = shortest(size);
      return sign + positional(digits, Math.max(digits.digits.length - digits.point, 0));
    }
    case 'g':
    case 'G': {
      const digits = precision < 0 ? shortest(size) : significant(size, Math.max(precision, 1));
      const text = withoutTrailingZeros(digits.digits);
      const cut = { digits: text, point: text === '' ? 0 : digits.point };
      // As Go decides it: like 6 digits if there are as many as needed, and never more than there are.
      const wanted = Math.max(precision, 1);
      const limit = precision < 0 ? 6 : wanted > text.length && text.length >= cut.point ? text.length : wanted;
      const exponent = cut.point - 1;
      if (text !== '' && (exponent < -4 || exponent >= limit)) {
        return sign + exponential(cut, Math.max(text.length - 1, 0), letter);
      }
      return sign + positional(cut, Math.max(text.length - cut.point, 0));
    }
    default:
      // 'x' or 'X'
      if (precision >= 0) {
        throw new FunctionError('a hexadecimal float is printed with all its digits only here');
      }
      return sign + (format === 'X' ? hexFloat(size).toUpperCase() : hexFloat(size));
  }
}
