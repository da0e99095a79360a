import { isJsonObject, type Json, type JsonObject } from '../kubernetes/index.ts';
import { type BagStep, type KeptValue, keyOf, patternOf } from './bag.ts';
import { fits } from './limits.ts';
import { own, setOwn } from './own.ts';
import type { Plan } from './plan.ts';

/** Copies of what has been changed already, and lists by the keys of their items. */
interface Drafts {
  copies: Set<Json>;
  indexes: Map<Json, Map<string, number[]>>;
}

const identityOf = (key: JsonObject) => JSON.stringify(Object.entries(key).sort());

/** Adds what is missing; what is there stays. */
function merged(present: Json | undefined, kept: Json): Json {
  if (present === undefined) {
    return kept;
  }
  if (!isJsonObject(present) || !isJsonObject(kept)) {
    return present;
  }
  const result = { ...present };
  for (const [key, value] of Object.entries(kept)) {
    setOwn(result, key, merged(own(present, key), value));
  }
  return result;
}

/** A version of a container that may be changed in place. */
function draft<T extends Json[] | JsonObject>(container: T, { copies }: Drafts): T {
  if (copies.has(container)) {
    return container;
  }
  const copy = (Array.isArray(container) ? [...container] : { ...container }) as T;
  copies.add(copy);
  return copy;
}

/** Positions of the items with these keys, where the list still has some. */
function positionsOf(list: Json[], key: JsonObject, { indexes }: Drafts): number[] {
  const names = Object.keys(key).sort();
  const id = JSON.stringify(names);
  const perNames = indexes.get(list) ?? new Map<string, number[]>();
  indexes.set(list, perNames);
  if (!perNames.has(id)) {
    perNames.set(id, []);
    for (const [position, item] of list.entries()) {
      const identity = id + identityOf(keyOf(item, names));
      perNames.set(identity, [...(perNames.get(identity) ?? []), position]);
    }
  }
  return perNames.get(id + identityOf(key)) ?? [];
}

function setAt(container: Json | undefined, path: readonly BagStep[], value: Json, drafts: Drafts): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) {
    return merged(container, value);
  }
  if (isJsonObject(step)) {
    if (!Array.isArray(container)) {
      return undefined;
    }
    const list = draft(container, drafts);
    for (const position of positionsOf(list, step, drafts)) {
      const changed = setAt(list[position], rest, value, drafts);
      if (changed !== undefined) {
        list[position] = changed;
      }
    }
    return list;
  }
  const name = typeof step === 'string' ? step : step[0];
  // Containers are not made: the user has removed what is not there.
  if (!isJsonObject(container) || (rest.length > 0 && !Object.hasOwn(container, name))) {
    return undefined;
  }
  const changed = setAt(own(container, name), rest, value, drafts);
  if (changed === undefined) {
    return undefined;
  }
  const copy = draft(container, drafts);
  setOwn(copy, name, changed);
  return copy;
}

/**
 * Puts kept values back where they are still missing and what they belong to is still there. Values that `plan`, the
 * way from this version to the one that could not say them, would not have kept are ignored.
 */
export function restore(object: JsonObject, values: readonly KeptValue[], { kept }: Plan): JsonObject {
  const drafts: Drafts = { copies: new Set(), indexes: new Map() };
  let restored = object;
  for (const { path, value } of values) {
    const pattern = patternOf(path);
    const limits = kept.get(pattern);
    if (!kept.has(pattern) || (limits !== undefined && fits(value, limits))) {
      continue;
    }
    restored = (setAt(restored, path, value, drafts) ?? restored) as JsonObject;
  }
  return restored;
}
