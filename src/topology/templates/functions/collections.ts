import type { Bytes } from '../../../base/go-text/index.ts';
import { type Budget, FunctionError } from '../budget.ts';
import { toInt64 } from '../values/numbers.ts';
import { sprint } from '../values/print.ts';
import {
  anyType,
  comparable,
  Dict,
  dictType,
  isTrue,
  kindOf,
  List,
  type Operand,
  Struct,
  type TemplateFunction,
  typeOf,
  type Value,
} from '../values/values.ts';
import { alsoAs, define, defineAny, type Functions } from './define.ts';
import { numberOf } from './strings.ts';

/** reflect.DeepEqual: types count, and a nil list differs from an empty one. */
function deepEqual(budget: Budget, left: Value, right: Value): boolean {
  return budget.nested(() => {
    if (typeof left === 'string') {
      budget.read(left.length);
    }
    if (left === right || typeOf(left) !== typeOf(right)) {
      return left === right;
    }
    if (left instanceof List && right instanceof List) {
      const hasSame = left.isNil === right.isNil && left.items.length === right.items.length;
      return hasSame && left.items.every((item, index) => deepEqual(budget, item, right.items[index] ?? null));
    }
    if (left instanceof Dict && right instanceof Dict) {
      const hasSame = left.isNil === right.isNil && left.entries.size === right.entries.size;
      return (
        hasSame &&
        [...left.entries].every(
          ([key, value]) => right.entries.has(key) && deepEqual(budget, value, right.entries.get(key) ?? null),
        )
      );
    }
    return comparable(left) === comparable(right);
  });
}

/** The items of a list. */
function itemsOf(value: Value, problem: string, more = ''): Value[] {
  if (value === null) {
    throw new FunctionError('runtime error: invalid memory address or nil pointer dereference');
  }
  if (!(value instanceof List)) {
    throw new FunctionError(`${problem} ${kindOf(value)}${more}`);
  }
  return value.items;
}

const includes = (budget: Budget, items: readonly Value[], value: Value): boolean =>
  items.some((item) => deepEqual(budget, value, item));

function sliced({ items, element }: List, indices: readonly Value[]): Value {
  const [start = 0n, end = BigInt(items.length)] = indices.map(toInt64);
  if (start < 0n || end < start || end > BigInt(items.length)) {
    throw new FunctionError('reflect.Value.Slice: slice index out of bounds');
  }
  return new List(items.slice(Number(start), Number(end)), element);
}

/** Whether mergo takes a value for empty, and so replaces it. */
const isEmptyForMerge = (value: Value | undefined): boolean =>
  value === undefined || value === null || (!(value instanceof Struct) && !isTrue(value));

function mergeInto(budget: Budget, target: Dict, source: Dict, overwrites: boolean): void {
  budget.spend(1 + source.entries.size);
  for (const [key, value] of source.entries) {
    const own = target.entries.get(key);
    if (own instanceof Dict && value instanceof Dict && own.element === value.element && !value.isNil) {
      budget.nested(() => mergeInto(budget, own, value, overwrites));
    } else if (overwrites || (value !== null && isEmptyForMerge(own))) {
      target.entries.set(key, value);
    }
  }
}

function merged(budget: Budget, target: Dict, sources: readonly Dict[], overwrites: boolean): Dict {
  const result = target.isNil && sources.some((source) => !source.isNil) ? new Dict(new Map()) : target;
  for (const source of sources) {
    mergeInto(budget, result, source, overwrites);
  }
  return result;
}

function copied(budget: Budget, value: Value): Value {
  return budget.nested(() => {
    if (value instanceof List && !value.isNil) {
      const items = value.items.map((item) => copied(budget, item));
      return new List(items, value.element);
    }
    if (value instanceof Dict && !value.isNil) {
      const entries = [...value.entries].map(([key, entry]) => [key, copied(budget, entry)] as const);
      return new Dict(new Map(entries), value.element);
    }
    return value;
  });
}

function asserted(value: Value, type: string): Value {
  if (value === null || typeOf(value) !== type) {
    throw new FunctionError(
      `interface conversion: interface {} is ${value === null ? 'nil' : typeOf(value)}, not ${type}`,
    );
  }
  return value;
}

function dug(values: readonly Value[]): Value {
  if (values.length < 3) {
    throw new FunctionError('dig needs at least three arguments');
  }
  let step: Value | undefined = asserted(values.at(-1) ?? null, dictType);
  for (const key of values.slice(0, -2).map((one) => asserted(one, 'string') as Bytes)) {
    step = (asserted(step, dictType) as Dict).entries.get(key);
    if (step === undefined) {
      return values.at(-2) ?? null;
    }
  }
  return step;
}

const isEmpty = (value: Value): boolean => !isTrue(value);

const list = define(['...any'], (values) => new List([...values]));

/** A function whose first argument is a list; `problem` is what Go says of another one. */
function ofList(
  problem: string,
  others: readonly [] | readonly ['any'] | readonly ['...any'],
  run: (list: List, others: readonly Value[], budget: Budget) => Operand | null,
  isAny = false,
): TemplateFunction {
  return define(
    ['any', ...others],
    ([list, ...rest], budget) => {
      itemsOf(list, problem);
      return run(list as List, rest as Value[], budget);
    },
    isAny,
  );
}

const push = ofList('Cannot push on type', ['any'], ({ items }, added) => new List([...items, ...added]));

/** Functions that fail alike with `must` before their names. */
const alsoWithMust: Functions = {
  append: push,
  push,
  prepend: ofList('Cannot prepend on type', ['any'], ({ items }, added) => new List([...added, ...items])),
  first: ofList('Cannot find first on type', [], ({ items }) => items[0] ?? null, true),
  last: ofList('Cannot find last on type', [], ({ items }) => items.at(-1) ?? null, true),
  rest: ofList('Cannot find rest on type', [], ({ items }) => new List(items.slice(1), anyType, items.length === 0)),
  initial: ofList(
    'Cannot find initial on type',
    [],
    ({ items }) => new List(items.slice(0, -1), anyType, items.length === 0),
  ),
  reverse: ofList('Cannot find reverse on type', [], ({ items }) => new List(items.toReversed())),
  compact: ofList('Cannot compact on type', [], ({ items }) => new List(items.filter((item) => !isEmpty(item)))),
  uniq: ofList('Cannot find uniq on type', [], ({ items }, _others, budget) => {
    // NaN does not equal itself.
    const firstOf = (item: Value) => items.findIndex((one) => deepEqual(budget, item, one));
    return new List(items.filter((item, at) => [at, -1].includes(firstOf(item))));
  }),
  without: ofList(
    'Cannot find without on type',
    ['...any'],
    ({ items }, omitted, budget) => new List(items.filter((item) => !includes(budget, omitted, item))),
  ),
  has: define(
    ['any', 'any'],
    ([value, list], budget) => list !== null && includes(budget, itemsOf(list, 'Cannot find has on type'), value),
  ),
  slice: ofList(
    'list should be type of slice or array but',
    ['...any'],
    (list, indices) => (list.items.length === 0 ? null : sliced(list, indices)),
    true,
  ),
  chunk: define(['int', 'any'], ([size, value]) => {
    const [length, items] = [numberOf(size), itemsOf(value, 'Cannot chunk type')];
    if (length <= 0) {
      throw new FunctionError('runtime error: makeslice: len out of range');
    }
    const chunk = (_: unknown, index: number) => new List(items.slice(index * length, (index + 1) * length));
    return new List(Array.from({ length: Math.ceil(items.length / length) }, chunk), `[]${anyType}`);
  }),
  merge: defineAny(['dict', '...dict'], ([target, ...sources], budget) => merged(budget, target, sources, false)),
  mergeOverwrite: defineAny(['dict', '...dict'], ([target, ...sources], budget) =>
    merged(budget, target, sources, true),
  ),
  deepCopy: defineAny(['any'], ([value], budget) => {
    if (value === null) {
      throw new FunctionError('reflect: call of reflect.Value.Type on zero Value');
    }
    return copied(budget, value);
  }),
};

export const collectionFunctions: Functions = {
  list,
  tuple: list,
  ...alsoWithMust,
  ...alsoAs('must', alsoWithMust),
  concat: defineAny(['...any'], (lists) => {
    const all = lists.flatMap((one) => itemsOf(one, 'Cannot concat type', ' as list'));
    return new List(all, anyType, all.length === 0);
  }),
  dict: define(['...any'], (values, budget) => {
    const keys = values.filter((_, index) => index % 2 === 0).map((key) => sprint(budget, [key]));
    const valueAt = (index: number) => (index < values.length ? (values[index] ?? null) : '');
    return new Dict(new Map(keys.map((key, index) => [key, valueAt(2 * index + 1)])));
  }),
  get: defineAny(['dict', 'string'], ([dict, key]) => {
    const value = dict.entries.get(key);
    return value === undefined ? '' : value;
  }),
  set: define(['dict', 'string', 'any'], ([dict, key, value]) => {
    if (dict.isNil) {
      throw new FunctionError('assignment to entry in nil map');
    }
    dict.entries.set(key, value);
    return dict;
  }),
  unset: define(['dict', 'string'], ([dict, key]) => {
    dict.entries.delete(key);
    return dict;
  }),
  hasKey: define(['dict', 'string'], ([dict, key]) => dict.entries.has(key)),
  pluck: define(['string', '...dict'], ([key, ...dicts]) => {
    const found = dicts.map((dict) => dict.entries.get(key)).filter((value) => value !== undefined);
    return new List(found);
  }),
  keys: define(
    ['...dict'],
    (dicts) =>
      new List(
        dicts.flatMap((dict) => [...dict.entries.keys()]),
        'string',
      ),
  ),
  values: define(['dict'], ([dict]) => new List(Array.from(dict.entries, ([, value]) => value))),
  pick: define(['dict', '...string'], ([dict, ...keys]) => {
    const found = keys.filter((key) => dict.entries.has(key));
    return new Dict(new Map(found.map((key) => [key, dict.entries.get(key) ?? null])));
  }),
  omit: define(['dict', '...string'], ([dict, ...keys]) => {
    const omitted = new Set(keys);
    return new Dict(new Map([...dict.entries].filter(([key]) => !omitted.has(key))));
  }),
  dig: defineAny(['...any'], (values) => dug(values)),
  default: defineAny(['any', '...any'], ([fallback, given = null]) => (isEmpty(given) ? fallback : given)),
  empty: define(['any'], ([value]) => isEmpty(value)),
  coalesce: defineAny(['...any'], (values) => values.find((value) => !isEmpty(value)) ?? null),
  all: define(['...any'], (values) => !values.some(isEmpty)),
  any: define(['...any'], (values) => values.some((value) => !isEmpty(value))),
  ternary: defineAny(['any', 'any', 'bool'], ([yes, no, condition]) => (condition ? yes : no)),
  deepEqual: define(['any', 'any'], ([left, right], budget) => deepEqual(budget, left, right)),
  typeOf: define(['any'], ([value]) => typeOf(value)),
  typeIs: define(['string', 'any'], ([type, value]) => type === typeOf(value)),
  typeIsLike: define(['string', 'any'], ([type, value]) => type === typeOf(value) || `*${type}` === typeOf(value)),
  kindOf: define(['any'], ([value]) => kindOf(value)),
  kindIs: define(['string', 'any'], ([kind, value]) => kind === kindOf(value)),
};
