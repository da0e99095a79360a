import type { Bytes } from '../../../base/go-text/index.ts';
import { type Budget, FunctionError } from '../budget.ts';
import { toInt64 } from '../values/numbers.ts';
import {
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
import { define, defineAny, type Functions } from './define.ts';
import { numberOf, textOfValue } from './strings.ts';

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

const nilPointer = 'runtime error: invalid memory address or nil pointer dereference';

/** The items of a list; `verb` names what cannot be done with another value. */
function itemsOf(value: Value, verb: string): Value[] {
  if (value === null) {
    throw new FunctionError(nilPointer);
  }
  if (!(value instanceof List)) {
    throw new FunctionError(`${verb} ${kindOf(value)}`);
  }
  return value.items;
}

const nilList = (): List => new List([], undefined, true);

const includes = (budget: Budget, items: readonly Value[], value: Value): boolean =>
  items.some((item) => deepEqual(budget, value, item));

function uniq(budget: Budget, items: readonly Value[]): List {
  const kept: Value[] = [];
  for (const item of items) {
    if (!includes(budget, kept, item)) {
      kept.push(item);
    }
  }
  return new List(kept);
}

function sliced({ items, element }: List, indices: readonly Value[]): Value {
  const [start = 0n, end = BigInt(items.length)] = indices.map(toInt64);
  if (start < 0n || end < start || end > BigInt(items.length)) {
    throw new FunctionError('reflect.Value.Slice: slice index out of bounds');
  }
  return new List(items.slice(Number(start), Number(end)), element);
}

function chunked(length: number, items: readonly Value[]): List {
  if (length <= 0) {
    throw new FunctionError('runtime error: makeslice: len out of range');
  }
  const chunks: Value[] = [];
  for (let at = 0; at < items.length; at += length) {
    chunks.push(new List(items.slice(at, at + length)));
  }
  return new List(chunks, '[]interface {}');
}

function written(dict: Dict): Dict {
  if (dict.isNil) {
    throw new FunctionError('assignment to entry in nil map');
  }
  return dict;
}

function dictOf(budget: Budget, values: readonly Value[]): Dict {
  const entries = new Map<Bytes, Value>();
  for (let index = 0; index < values.length; index += 2) {
    entries.set(
      textOfValue(budget, values[index] ?? null),
      index + 1 < values.length ? (values[index + 1] ?? null) : '',
    );
  }
  return new Dict(entries);
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
  let dict = asserted(values.at(-1) ?? null, dictType) as Dict;
  const keys = values.slice(0, -2).map((key) => asserted(key, 'string') as Bytes);
  for (const [index, key] of keys.entries()) {
    const step = dict.entries.get(key);
    if (step === undefined) {
      return values.at(-2) ?? null;
    }
    if (index === keys.length - 1) {
      return step;
    }
    dict = asserted(step, dictType) as Dict;
  }
  return null;
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
  const call = ([list, ...rest]: readonly Value[], budget: Budget) => {
    itemsOf(list ?? null, problem);
    return run(list as List, rest, budget);
  };
  return define(['any', ...others], (args, budget) => call(args as Value[], budget), isAny);
}

const push = ofList('Cannot push on type', ['any'], ({ items }, added) => new List([...items, ...added]));

/** Functions that fail alike with `must` before their names. */
const alsoWithMust: Functions = {
  append: push,
  push,
  prepend: ofList('Cannot prepend on type', ['any'], ({ items }, added) => new List([...added, ...items])),
  first: ofList('Cannot find first on type', [], ({ items }) => items[0] ?? null, true),
  last: ofList('Cannot find last on type', [], ({ items }) => items.at(-1) ?? null, true),
  rest: ofList('Cannot find rest on type', [], ({ items }) =>
    items.length === 0 ? nilList() : new List(items.slice(1)),
  ),
  initial: ofList('Cannot find initial on type', [], ({ items }) =>
    items.length === 0 ? nilList() : new List(items.slice(0, -1)),
  ),
  reverse: ofList('Cannot find reverse on type', [], ({ items }) => new List(items.toReversed())),
  compact: ofList('Cannot compact on type', [], ({ items }) => new List(items.filter((item) => !isEmpty(item)))),
  uniq: ofList('Cannot find uniq on type', [], ({ items }, _others, budget) => uniq(budget, items)),
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
  chunk: define(['int', 'any'], ([size, value]) => chunked(numberOf(size), itemsOf(value, 'Cannot chunk type'))),
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
  ...Object.fromEntries(
    Object.entries(alsoWithMust).map(([name, one]) => [`must${name.charAt(0).toUpperCase()}${name.slice(1)}`, one]),
  ),
  concat: defineAny(['...any'], (lists) => {
    for (const one of lists) {
      if (!(one instanceof List)) {
        throw new FunctionError(one === null ? nilPointer : `Cannot concat type ${kindOf(one)} as list`);
      }
    }
    const all = (lists as List[]).flatMap(({ items }) => items);
    return all.length === 0 ? nilList() : new List(all);
  }),
  dict: define(['...any'], (values, budget) => dictOf(budget, values)),
  get: defineAny(['dict', 'string'], ([dict, key]) => {
    const value = dict.entries.get(key);
    return value === undefined ? '' : value;
  }),
  set: define(['dict', 'string', 'any'], ([dict, key, value]) => {
    written(dict).entries.set(key, value);
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
    const entries = new Map<Bytes, Value>();
    for (const key of keys) {
      const value = dict.entries.get(key);
      if (value !== undefined) {
        entries.set(key, value);
      }
    }
    return new Dict(entries);
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
