import { NotKnown } from '../../world/not-known.ts';
import { type Budget, FunctionError } from '../budget.ts';
import { infiniteText, parseInt64, toFloat64, toInt64, wrapped } from '../values/numbers.ts';
import { sprint } from '../values/print.ts';
import { Integer, List, type Value } from '../values/values.ts';
import { define, type Functions } from './define.ts';

/** Integers from one to before another. */
function steps(budget: Budget, start: bigint, stop: bigint, step: bigint): bigint[] {
  const sign = stop < start ? -1n : 1n;
  if (step * sign <= 0n) {
    return [];
  }
  const count = Number((stop - start + step - sign) / step);
  budget.spend(count);
  return Array.from({ length: count }, (_, index) => start + BigInt(index) * step);
}

function sequence(budget: Budget, params: readonly bigint[]): string {
  const [first = 0n, ...others] = params;
  const [start, end = 0n] = params.length === 1 ? [1n, first] : [first, others.at(-1)];
  const direction = end < start ? -1n : 1n;
  const [step = direction] = params.length === 3 ? others : [];
  if (params.length === 0 || params.length > 3 || step * direction < 0n) {
    return '';
  }
  return steps(budget, start, end + direction, step).join(' ');
}

function divisor(value: Value): bigint {
  const number = toInt64(value);
  if (number === 0n) {
    throw new FunctionError('runtime error: integer divide by zero');
  }
  return number;
}

interface Decimal {
  digits: bigint;
  exponent: number;
}

function decimalOf(value: Value): Decimal {
  const number = toFloat64(value);
  if (!Number.isFinite(number)) {
    throw new FunctionError(`Cannot create a Decimal from ${infiniteText(number)}`);
  }
  const [mantissa = '', exponent = '0'] = number.toExponential().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** The digits of two numbers with one exponent. */
function aligned(left: Decimal, right: Decimal): { digits: [bigint, bigint]; exponent: number } {
  const exponent = Math.min(left.exponent, right.exponent);
  const scaled = (one: Decimal) => one.digits * 10n ** BigInt(one.exponent - exponent);
  return { digits: [scaled(left), scaled(right)], exponent };
}

function sum(left: Decimal, right: Decimal): Decimal {
  const { digits, exponent } = aligned(left, right);
  return { digits: digits[0] + digits[1], exponent };
}

const sizeOf = (value: bigint): bigint => (value < 0n ? -value : value);

/** Keeps 16 digits after the point, as shopspring/decimal does. */
function divided(left: Decimal, right: Decimal): Decimal {
  if (right.digits === 0n) {
    throw new FunctionError('decimal division by 0');
  }
  const { digits: both } = aligned(left, right);
  const [size, divisor] = [sizeOf(both[0]) * 10n ** 16n, sizeOf(both[1])];
  const digits = (2n * size + divisor) / (2n * divisor);
  return { digits: both[0] < 0n === both[1] < 0n ? digits : -digits, exponent: -16 };
}

/** Applies an operation to a number and others, one after the other. Digits may grow with each. */
function decimals(
  budget: Budget,
  first: Decimal,
  others: readonly Value[],
  apply: (left: Decimal, right: Decimal) => Decimal,
): number {
  let result = first;
  for (const other of others) {
    budget.spend(1 + Math.ceil(result.digits.toString(16).length / 100));
    result = apply(result, decimalOf(other));
  }
  const number = Number(`${result.digits}e${result.exponent}`);
  return number === 0 ? 0 : number;
}

const operator = (apply: (left: Decimal, right: Decimal) => Decimal) =>
  define(['any', '...any'], ([first, ...others], budget) => decimals(budget, decimalOf(first), others, apply));

function rounded(value: number, places: bigint, roundsFrom: number): number {
  // As math.Pow: a negative power is the inverse of the positive one.
  const power = places < 0n ? 1 / Number(`1e${-places}`) : Number(`1e${places}`);
  const digit = power * value;
  const fraction = Number.isFinite(digit) ? digit - Math.trunc(digit) : Number.NaN;
  return (fraction >= roundsFrom ? Math.ceil(digit) : Math.floor(digit)) / power;
}

const int64 = (value: bigint): Integer => new Integer('int64', wrapped(value));

const extreme = (pick: (left: bigint, right: bigint) => bigint) =>
  define(['any', '...any'], (values) => int64(values.map(toInt64).reduce(pick)));
const max = extreme((left, right) => (right > left ? right : left));

export const numberFunctions: Functions = {
  int: define(['any'], ([value]) => toInt64(value)),
  int64: define(['any'], ([value]) => int64(toInt64(value))),
  float64: define(['any'], ([value]) => toFloat64(value)),
  toDecimal: define(['any'], ([value], budget) => {
    const parsed = parseInt64(sprint(budget, [value]), 8);
    return int64(typeof parsed === 'bigint' ? parsed : 0n);
  }),
  seq: define(['...int'], (params, budget) => sequence(budget, params)),
  until: define(['int'], ([count], budget) => new List(steps(budget, 0n, count, count < 0n ? -1n : 1n), 'int')),
  untilStep: define(
    ['int', 'int', 'int'],
    ([start, stop, step], budget) => new List(steps(budget, start, stop, step), 'int'),
  ),
  add1: define(['any'], ([value]) => int64(toInt64(value) + 1n)),
  add: define(['...any'], (values) => int64(values.reduce((total: bigint, value) => total + toInt64(value), 0n))),
  sub: define(['any', 'any'], ([left, right]) => int64(toInt64(left) - toInt64(right))),
  div: define(['any', 'any'], ([left, right]) => int64(toInt64(left) / divisor(right))),
  mod: define(['any', 'any'], ([left, right]) => int64(toInt64(left) % divisor(right))),
  mul: define(['any', '...any'], ([first, ...others]) =>
    int64(others.reduce((product: bigint, value) => wrapped(product * toInt64(value)), toInt64(first))),
  ),
  randInt: define(['int', 'int'], ([from, to]) => {
    if (to <= from) {
      throw new FunctionError('invalid argument to Intn');
    }
    if (to - from > 1n) {
      throw new NotKnown('the template calls randInt, which returns another result each time', { remedy: 'remove it' });
    }
    return from;
  }),
  add1f: define(['any'], ([value], budget) => decimals(budget, decimalOf(value), [1], sum)),
  addf: define(['...any'], (values, budget) => decimals(budget, { digits: 0n, exponent: 0 }, values, sum)),
  subf: operator((left, { digits, exponent }) => sum(left, { digits: -digits, exponent })),
  divf: operator(divided),
  mulf: operator((left, right) => ({ digits: left.digits * right.digits, exponent: left.exponent + right.exponent })),
  max,
  biggest: max,
  min: extreme((left, right) => (right < left ? right : left)),
  maxf: define(['any', '...any'], (values) => Math.max(...values.map(toFloat64))),
  minf: define(['any', '...any'], (values) => Math.min(...values.map(toFloat64))),
  ceil: define(['any'], ([value]) => Math.ceil(toFloat64(value))),
  floor: define(['any'], ([value]) => Math.floor(toFloat64(value))),
  round: define(['any', 'int', '...float'], ([value, places, roundsFrom = 0.5]) =>
    rounded(toFloat64(value), places, roundsFrom),
  ),
};
