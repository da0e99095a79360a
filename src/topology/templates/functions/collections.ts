import type { Bytes } from '../../../base/go-text/index.ts';
import { type Budget, FunctionError } from '../budget.ts';
import type { TemplateFunction } from '../evaluate.ts';
import { toInt64 } from '../values/cast.ts';
import { deepEqual } from '../values/equal.ts';
import { Dict, dictType, isTrue, kindOf, List, Struct, typeOf, type Value } from '../values/values.ts';
import { define, defineAny } from './define.ts';
import { sizeOf, textOfValue } from './strings.ts';

const nilPointer = 'runtime error: invalid memory address or nil pointer dereference';

/** The items of a list; `verb` names what cannot be done with another value. */
function itemsOf(value: Value, verb: string, budget: Budget): Value[] {
  if (value === null) {
    throw new FunctionError(nilPointer);
  }
  if (!(value instanceof List)) {
    throw new FunctionError(`${verb} ${kindOf(value)}`);
  }
  budget.spend(value.items.length);
  return value.items;
}

function nilList(): List {
  return new List([], undefined, true);
}

function pushed(list: Value, value: Value, budget: Budget): List {
  return new List([...itemsOf(list, 'Cannot push on type', budget), value]);
}

function prepended(list: Value, value: Value, budget: Budget): List {
  return new List([value, ...itemsOf(list, 'Cannot prepend on type', budget)]);
}

function rest(list: Value, budget: Budget): List {
  const items = itemsOf(list, 'Cannot find rest on type', budget);
  return items.length === 0 ? nilList() : new List(items.slice(1));
}

function initial(list: Value, budget: Budget): List {
  const items = itemsOf(list, 'Cannot find initial on type', budget);
  return items.length === 0 ? nilList() : new List(items.slice(0, -1));
}

function includes(items: readonly Value[], value: Value, budget: Budget): boolean {
  return items.some((item) => deepEqual(value, item, budget));
}

function uniq(list: Value, budget: Budget): List {
  const kept: Value[] = [];
  for (const item of itemsOf(list, 'Cannot find uniq on type', budget)) {
    if (!includes(kept, item, budget)) {
      kept.push(item);
    }
  }
  return new List(kept);
}

function without(list: Value, omitted: readonly Value[], budget: Budget): List {
  return new List(
    itemsOf(list, 'Cannot find without on type', budget).filter((item) => !includes(omitted, item, budget)),
  );
}

function has(value: Value, list: Value, budget: Budget): boolean {
  return list !== null && includes(itemsOf(list, 'Cannot find has on type', budget), value, budget);
}

function sliced(list: Value, indices: readonly Value[], budget: Budget): Value {
  const items = itemsOf(list, 'list should be type of slice or array but', budget);
  if (items.length === 0) {
    return null;
  }
  const [start = 0n, end = BigInt(items.length)] = indices.map(toInt64);
  if (start < 0n || end < start || end > BigInt(items.length)) {
    throw new FunctionError('reflect.Value.Slice: slice index out of bounds');
  }
  return new List(items.slice(Number(start), Number(end)), (list as List).element);
}

function chunked(size: bigint, list: Value, budget: Budget): List {
  const items = itemsOf(list, 'Cannot chunk type', budget);
  const length = sizeOf(size);
  const count = Math.floor((items.length - 1) / length) + 1;
  if (count === 0) {
    return new List([], '[]interface {}');
  }
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

function dictOf(values: readonly Value[], budget: Budget): Dict {
  budget.spend(values.length);
  const entries = new Map<Bytes, Value>();
  for (let index = 0; index < values.length; index += 2) {
    entries.set(
      textOfValue(values[index] ?? null, budget),
      index + 1 < values.length ? (values[index + 1] ?? null) : '',
    );
  }
  return new Dict(entries);
}

/** Whether mergo takes a value for empty, and so replaces it. */
function isEmptyForMerge(value: Value | undefined): boolean {
  return value === undefined || value === null || (!(value instanceof Struct) && !isTrue(value));
}

/** mergo's merge of maps into the first. */
function mergeInto(target: Dict, source: Dict, overwrites: boolean, budget: Budget): void {
  budget.spend(1 + source.entries.size);
  for (const [key, value] of source.entries) {
    const own = target.entries.get(key);
    if (own instanceof Dict && value instanceof Dict && own.element === value.element && !value.isNil) {
      budget.nested(() => mergeInto(own, value, overwrites, budget));
    } else if (overwrites || (value !== null && isEmptyForMerge(own))) {
      target.entries.set(key, value);
    }
  }
}

function merged(target: Dict, sources: readonly Dict[], overwrites: boolean, budget: Budget): Dict {
  const result = target.isNil && sources.some((source) => !source.isNil) ? new Dict(new Map()) : target;
  for (const source of sources) {
    mergeInto(result, source, overwrites, budget);
  }
  return result;
}

function copied(value: Value, budget: Budget): Value {
  return budget.nested(() => copyOf(value, budget));
}

function copyOf(value: Value, budget: Budget): Value {
  if (value instanceof List) {
    return value.isNil
      ? value
      : new List(
          value.items.map((item) => copied(item, budget)),
          value.element,
        );
  }
  if (value instanceof Dict) {
    const entries = [...value.entries].map(([key, entry]) => [key, copied(entry, budget)] as const);
    return value.isNil ? value : new Dict(new Map(entries), value.element);
  }
  return value;
}

/** A Go type assertion. */
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

/** Whether sprig takes a value for empty. */
function isEmpty(value: Value): boolean {
  return !isTrue(value);
}

const list = define(['...any'], (values, budget) => {
  budget.spend(values.length);
  return new List([...values]);
});

/** Functions that fail alike with `must` before their names. */
const alsoWithMust: Readonly<Record<string, TemplateFunction>> = {
  append: define(['any', 'any'], ([list, value], budget) => pushed(list, value, budget)),
  push: define(['any', 'any'], ([list, value], budget) => pushed(list, value, budget)),
  prepend: define(['any', 'any'], ([list, value], budget) => prepended(list, value, budget)),
  first: defineAny(['any'], ([value], budget) => itemsOf(value, 'Cannot find first on type', budget)[0] ?? null),
  last: defineAny(['any'], ([value], budget) => itemsOf(value, 'Cannot find last on type', budget).at(-1) ?? null),
  rest: define(['any'], ([value], budget) => rest(value, budget)),
  initial: define(['any'], ([value], budget) => initial(value, budget)),
  reverse: define(
    ['any'],
    ([value], budget) => new List(itemsOf(value, 'Cannot find reverse on type', budget).toReversed()),
  ),
  compact: define(
    ['any'],
    ([value], budget) => new List(itemsOf(value, 'Cannot compact on type', budget).filter((item) => !isEmpty(item))),
  ),
  uniq: define(['any'], ([value], budget) => uniq(value, budget)),
  without: define(['any', '...any'], ([value, ...omitted], budget) => without(value, omitted, budget)),
  has: define(['any', 'any'], ([value, haystack], budget) => has(value, haystack, budget)),
  slice: defineAny(['any', '...any'], ([value, ...indices], budget) => sliced(value, indices, budget)),
  chunk: define(['int', 'any'], ([size, value], budget) => chunked(size, value, budget)),
  merge: defineAny(['dict', '...dict'], ([target, ...sources], budget) => merged(target, sources, false, budget)),
  mergeOverwrite: defineAny(['dict', '...dict'], ([target, ...sources], budget) =>
    merged(target, sources, true, budget),
  ),
  deepCopy: defineAny(['any'], ([value], budget) => {
    if (value === null) {
      throw new FunctionError('reflect: call of reflect.Value.Type on zero Value');
    }
    return copied(value, budget);
  }),
};

/** Functions of sprig that work with lists, maps and defaults. */
export const collectionFunctions: Readonly<Record<string, TemplateFunction>> = {
  list,
  tuple: list,
  ...alsoWithMust,
  ...Object.fromEntries(
    Object.entries(alsoWithMust).map(([name, one]) => [`must${name.charAt(0).toUpperCase()}${name.slice(1)}`, one]),
  ),
  concat: defineAny(['...any'], (lists, budget) => {
    for (const one of lists) {
      if (one instanceof List) {
        budget.spend(one.items.length);
      } else {
        throw new FunctionError(one === null ? nilPointer : `Cannot concat type ${kindOf(one)} as list`);
      }
    }
    const all = (lists as List[]).flatMap(({ items }) => items);
    return all.length === 0 ? nilList() : new List(all);
  }),
  dict: define(['...any'], (values, budget) => dictOf(values, budget)),
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
  keys: define(['...dict'], (dicts, budget) => {
    const keys = dicts.flatMap((dict) => [...dict.entries.keys()]);
    budget.spend(keys.length);
    return new List(keys, 'string');
  }),
  values: define(['dict'], ([dict], budget) => {
    budget.spend(dict.entries.size);
    return new List([...dict.entries.values()]);
  }),
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
  omit: define(['dict', '...string'], ([dict, ...keys], budget) => {
    budget.spend(dict.entries.size);
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
  deepEqual: define(['any', 'any'], ([left, right], budget) => deepEqual(left, right, budget)),
  typeOf: define(['any'], ([value]) => typeOf(value)),
  typeIs: define(['string', 'any'], ([type, value]) => type === typeOf(value)),
  typeIsLike: define(['string', 'any'], ([type, value]) => type === typeOf(value) || `*${type}` === typeOf(value)),
  kindOf: define(['any'], ([value]) => kindOf(value)),
  kindIs: define(['string', 'any'], ([kind, value]) => kind === kindOf(value)),
};
