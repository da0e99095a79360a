import type { Bytes } from '../../../base/go-text/index.ts';
import { NotKnown } from '../../world/not-known.ts';
import { Integer, type Value } from './values.ts';

/** Why a text is not a number, as strconv words it. */
export type NumberProblem = 'invalid syntax' | 'value out of range';

const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;
const maxUint64 = 2n ** 64n - 1n;

/** An integer that may have overflowed, as Go keeps 64 bits of it. */
export const wrapped = (value: bigint): bigint => BigInt.asIntN(64, value);

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

/** A number that is not finite, as Go prints it. */
export const infiniteText = (value: number): string => (Number.isNaN(value) ? 'NaN' : value < 0 ? '-Inf' : '+Inf');

/** Digits after the point that are printed. */
export const maxPrecision = 60;

/** A positive number in text as JavaScript writes it, but for ties, which Go rounds to even. */
function rounded(value: number, method: 'toExponential' | 'toFixed', precision: number): string {
  const text = value[method](precision);
  const [exact = '', exponent] = value[method](precision + 30).split('e');
  const below = exact.slice(0, -30);
  const isTie = /^50*$/.test(exact.slice(-30)) && /[02468]\.?$/.test(below);
  return isTie ? (precision === 0 ? below.slice(0, -1) : below) + (exponent === undefined ? '' : `e${exponent}`) : text;
}

const exponentText = (exponent: number): string =>
  `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;

function withExponent(exponential: string): string {
  const [mantissa, exponent] = exponential.split('e');
  return `${mantissa}e${exponentText(Number(exponent))}`;
}

function hexFloat(value: number): string {
  let [mantissa, exponent] = [value, 0];
  for (; mantissa >= 2; mantissa /= 2) {
    exponent++;
  }
  for (; mantissa > 0 && mantissa < 1; mantissa *= 2) {
    exponent--;
  }
  return `0x${mantissa.toString(16)}p${exponentText(exponent)}`;
}

/**
 * strconv.FormatFloat of a positive number with 64 bits, by the letters e, f, g and x. A precision of -1 (of g and x) gives as
 * many digits as are needed to read the same number again.
 *
 * @throws {NotKnown} for a hexadecimal number with a precision, and for a large one without an exponent.
 */
export function formatFloat(value: number, format: string, precision: number): string {
  if ((format === 'x' && precision >= 0) || (format === 'f' && value >= 1e21)) {
    throw new NotKnown(`the template prints ${value} with %.${precision}${format}`, { remedy: 'print it with %v' });
  }
  if (format === 'x') {
    return hexFloat(value);
  }
  if (format === 'f') {
    return rounded(value, 'toFixed', precision);
  }
  if (format === 'e') {
    return withExponent(rounded(value, 'toExponential', precision));
  }
  const wanted = Math.max(precision, 1);
  const [mantissa = '', power] = (
    precision < 0 ? value.toExponential() : rounded(value, 'toExponential', wanted - 1)
  ).split('e');
  const digits = mantissa.replace('.', '').replace(/(?<!0)0+$/, '') || '0';
  const point = Number(power) + 1;
  // As Go decides it: like 6 digits if there are as many as needed, and never more than there are.
  const limit = precision < 0 ? 6 : wanted > digits.length && digits.length >= point ? digits.length : wanted;
  if (value !== 0 && (point < -3 || point > limit)) {
    return withExponent(`${digits.replace(/^.(?=.)/, '$&.')}e${power}`);
  }
  const fraction = '0'.repeat(Math.max(-point, 0)) + digits.slice(Math.max(point, 0));
  const whole = digits.slice(0, Math.max(point, 0)).padEnd(point, '0') || '0';
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** A float64 as an int64, as x86 converts what does not fit. */
export const truncated = (value: number): bigint =>
  value > -(2 ** 63) && value < 2 ** 63 ? BigInt(Math.trunc(value)) : -(2n ** 63n);

/** A number in text without its fraction, as spf13/cast cuts it. */
function withoutFraction(text: string): string {
  const [, whole] = /^([-+]?[0-9]*)(?:\.[0-9]*)?$/.exec(text) ?? [];
  return whole === undefined || !text.includes('.') ? text : /[0-9]/.test(whole) ? whole : `${whole}0`;
}

/** cast.ToInt64: 0 for what is not a number. Text may have a base, as 0x10 and 010. */
export function toInt64(value: Value): bigint {
  switch (typeof value) {
    case 'bigint':
      return value;
    case 'number':
      return truncated(value);
    case 'boolean':
      return value ? 1n : 0n;
    case 'string': {
      const parsed = parseInt64(withoutFraction(value), 0);
      return typeof parsed === 'bigint' ? parsed : 0n;
    }
    default:
      return value instanceof Integer ? wrapped(value.value) : 0n;
  }
}

/** cast.ToFloat64: 0 for what is not a number. */
export function toFloat64(value: Value): number {
  if (typeof value === 'number') {
    return value;
  }
  if (typeof value === 'string') {
    const parsed = parseFloat64(value);
    return typeof parsed === 'number' ? parsed : 0;
  }
  return value instanceof Integer ? Number(value.value) : Number(toInt64(value));
}
