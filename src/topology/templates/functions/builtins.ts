import { type Bytes, percentEncoded } from '../../../base/go-text/index.ts';
import { NotKnown } from '../../world/not-known.ts';
import { type Budget, FunctionError } from '../budget.ts';
import { sprint, sprintf, sprintln } from '../values/print.ts';
import {
  Boxed,
  comparable,
  Dict,
  elementOperand,
  Integer,
  integerOf,
  isTrue,
  kindOf,
  List,
  lengthIn,
  type Operand,
  typeOf,
  unboxed,
  type Value,
} from '../values/values.ts';
import { define, type Functions } from './define.ts';

function basicKind(value: Value | undefined): string | undefined {
  if (integerOf(value) !== undefined) {
    return 'integer';
  }
  const type = typeof value;
  return ['boolean', 'number', 'string'].includes(type) ? type : undefined;
}

const incompatible = (left: Value | undefined, right: Value | undefined): FunctionError =>
  new FunctionError(`incompatible types for comparison: ${typeOf(left)} and ${typeOf(right)}`);

const isNil = (value: Value | undefined): boolean =>
  value === undefined || value === null || ((value instanceof List || value instanceof Dict) && value.isNil);

function isSame(left: Value | undefined, right: Value | undefined): boolean {
  const kind = basicKind(left);
  if (kind !== basicKind(right)) {
    if (left !== undefined && right !== undefined) {
      throw incompatible(left, right);
    }
    return false;
  }
  if (kind !== undefined) {
    return comparable(left) === comparable(right);
  }
  if (isNil(left) || isNil(right)) {
    return isNil(left) === isNil(right);
  }
  throw new NotKnown('the template compares lists, maps or versions', { remedy: 'compare texts, numbers or booleans' });
}

function isEqual(first: Operand, others: readonly Operand[]): boolean {
  if (others.length === 0) {
    throw new FunctionError('missing argument for comparison');
  }
  return others.some((other) => isSame(unboxed(first), unboxed(other)));
}

function isLess(first: Operand, second: Operand): boolean {
  const [left, right] = [unboxed(first), unboxed(second)];
  const [kind, otherKind] = [basicKind(left), basicKind(right)];
  if (kind !== undefined && otherKind !== undefined && kind !== otherKind) {
    throw incompatible(left, right);
  }
  if (kind === undefined || otherKind === undefined || kind === 'boolean') {
    throw new FunctionError('invalid type for comparison');
  }
  return (comparable(left) as string) < (comparable(right) as string);
}

const isLessOrEqual = (left: Operand, right: Operand): boolean => isLess(left, right) || isEqual(left, [right]);

function indexIn(index: Value | undefined, length: number): number {
  const number = integerOf(index);
  if (number === undefined) {
    throw new FunctionError(`cannot index slice/array with ${index === undefined ? 'nil' : `type ${typeOf(index)}`}`);
  }
  if (number < 0n || number > BigInt(length)) {
    throw new FunctionError(`index out of range: ${number}`);
  }
  return Number(number);
}

function itemAt(item: Exclude<Value, null>, index: Value | undefined): Operand {
  if (item instanceof Dict) {
    if (typeof index !== 'string') {
      throw new FunctionError(
        index === undefined
          ? 'value is nil; should be of type string'
          : `value has type ${typeOf(index)}; should be string`,
      );
    }
    const zero = item.element === 'string' ? '' : null;
    return elementOperand(item.entries.get(index) ?? zero, item.element);
  }
  if (item instanceof List || typeof item === 'string') {
    const { length } = item instanceof List ? item.items : item;
    const at = indexIn(index, length);
    if (at === length) {
      throw new FunctionError(`reflect: ${kindOf(item)} index out of range`);
    }
    return item instanceof List
      ? elementOperand(item.items[at] ?? null, item.element)
      : new Integer('uint8', BigInt(item.charCodeAt(at)));
  }
  // A pointer is followed.
  throw new FunctionError(`can't index item of type ${typeOf(item).replace('*', '')}`);
}

function indexed(from: Operand, indexes: readonly Operand[]): Operand {
  let item: Operand = unboxed(from);
  if (item === undefined) {
    throw new FunctionError('index of untyped nil');
  }
  for (const index of indexes) {
    const inner: Operand = unboxed(item);
    if (inner === undefined) {
      throw new FunctionError('index of nil pointer');
    }
    item = itemAt(inner as Exclude<Value, null>, unboxed(index));
  }
  return item;
}

function lengthOf(operand: Operand): bigint {
  const value = unboxed(operand);
  if (value === undefined) {
    throw new FunctionError(
      operand instanceof Boxed ? 'len of nil pointer' : 'reflect: call of reflect.Value.Type on zero Value',
    );
  }
  const length = lengthIn(value);
  if (length === undefined) {
    throw new FunctionError(`len of type ${typeOf(value).replace('*', '')}`);
  }
  return BigInt(length);
}

function textOfAll(budget: Budget, args: readonly Value[]): Bytes {
  const text = sprint(
    budget,
    args.map((value) => value ?? '<no value>'),
  );
  budget.write(text.length * 6);
  return text;
}

/** A text in the query of a URL, as url.QueryEscape. */
const queryEscaped = (text: Bytes): Bytes =>
  text.replaceAll(/[^A-Za-z0-9._~-]/g, (char) => (char === ' ' ? '+' : percentEncoded(char)));

/** Functions of text/template itself. Its `slice` is not among them: sprig's replaces it. */
export const builtins: Functions = {
  // These two are evaluated without a call.
  and: define(['operand', '...operand'], ([first]) => first),
  or: define(['operand', '...operand'], ([first]) => first),
  not: define(['operand'], ([value]) => !isTrue(unboxed(value))),
  call: define(['operand', '...operand'], ([value]) => {
    throw unboxed(value) === undefined
      ? new FunctionError('call of nil')
      : new NotKnown('the template calls a value that is not a function', { remedy: 'print it without call' });
  }),
  len: define(['operand'], ([value]) => lengthOf(value)),
  index: define(['operand', '...operand'], ([item, ...indexes]) => indexed(item, indexes)),
  eq: define(['operand', '...operand'], ([first, ...others]) => isEqual(first, others)),
  ne: define(['operand', 'operand'], ([left, right]) => !isEqual(left, [right])),
  lt: define(['operand', 'operand'], ([left, right]) => isLess(left, right)),
  le: define(['operand', 'operand'], ([left, right]) => isLessOrEqual(left, right)),
  gt: define(['operand', 'operand'], ([left, right]) => !isLessOrEqual(left, right)),
  ge: define(['operand', 'operand'], ([left, right]) => !isLess(left, right)),
  print: define(['...any'], (args, budget) => sprint(budget, args)),
  println: define(['...any'], (args, budget) => sprintln(budget, args)),
  printf: define(['string', '...any'], ([format, ...args], budget) => sprintf(budget, format, args)),
  html: define(['...any'], (args, budget) =>
    textOfAll(budget, args)
      .replaceAll('\0', '\xef\xbf\xbd')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll(/["']/g, (char) => `&#${char.charCodeAt(0)};`),
  ),
  urlquery: define(['...any'], (args, budget) => queryEscaped(textOfAll(budget, args))),
};
