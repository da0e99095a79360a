import { isJsonObject, type Json, type JsonObject, own, setOwn } from '../../kubernetes/index.ts';
import { type KeptStep, type KeptValue, listItemKey, patternOf } from './conversion-data.ts';
import { copyWithout } from './copy-without.ts';
import { fits } from './limits.ts';
import type { ConversionPlan } from './plan.ts';
import { tokensOf } from './schema-path.ts';

/** Copies of containers that have been changed, and the positions of list items by key. */
interface Drafts {
  copies: Set<Json>;
  positions: Map<Json, Map<string, number[]>>;
}

/** The keys of a list item as a string that is equal for equal keys. */
function identityOf(key: JsonObject): string {
  return JSON.stringify(Object.entries(key).sort());
}

/** A path as a string that is equal for equal paths. */
function pathIdentityOf(path: readonly KeptStep[]): string {
  return path.map((step) => (isJsonObject(step) ? identityOf(step) : JSON.stringify(step))).join();
}

/** Adds missing values; existing ones are not changed. */
function merged(present: Json | undefined, kept: Json): Json {
  if (present === undefined) {
    return kept;
  }
  if (!isJsonObject(present) || !isJsonObject(kept)) {
    return present;
  }
  const result = copyWithout(present);
  for (const [key, value] of Object.entries(kept)) {
    setOwn(result, key, merged(own(present, key), value));
  }
  return result;
}

/** A copy of a container that may be modified in place. */
function draft<T extends Json[] | JsonObject>(container: T, { copies }: Drafts): T {
  if (copies.has(container)) {
    return container;
  }
  const copy = (Array.isArray(container) ? [...container] : copyWithout(container as JsonObject)) as T;
  copies.add(copy);
  return copy;
}

/** Positions of the items with these keys, if any remain in the list. `names` are the names of the list's keys. */
function positionsOf(
  list: Json[],
  key: JsonObject,
  names: readonly string[],
  { positions }: Drafts,
): readonly number[] {
  let ofList = positions.get(list);
  if (ofList === undefined) {
    ofList = new Map();
    for (const [position, item] of list.entries()) {
      const identity = identityOf(listItemKey(item, names));
      const found = ofList.get(identity);
      if (found === undefined) {
        ofList.set(identity, [position]);
      } else {
        found.push(position);
      }
    }
    positions.set(list, ofList);
  }
  return ofList.get(identityOf(key)) ?? [];
}

/** The state while restoring one value. */
interface Restoring {
  path: readonly KeptStep[];
  listKeys: ConversionPlan['listKeys'];
  value: Json;
  /** The number of earlier values for the same path. */
  occurrence: number;
  /** Whether a list on the path has several items with the same keys. */
  hasTwins: boolean;
  drafts: Drafts;
}

/** The container with the value set at the rest of its path, or undefined if that path no longer exists. */
function setAt(container: Json | undefined, depth: number, restoring: Restoring): Json | undefined {
  const { path, listKeys, value, occurrence, drafts } = restoring;
  const step = path[depth];
  if (step === undefined) {
    return occurrence > 0 && !restoring.hasTwins ? undefined : merged(container, value);
  }
  if (isJsonObject(step)) {
    if (!Array.isArray(container)) {
      return undefined;
    }
    const list = draft(container, drafts);
    const names = listKeys.get(patternOf(path.slice(0, depth + 1))) ?? [];
    const positions = positionsOf(list, step, names, drafts);
    restoring.hasTwins ||= positions.length > 1;
    const position = positions[positions.length > 1 ? occurrence : 0];
    const changed = position === undefined ? undefined : setAt(list[position], depth + 1, restoring);
    if (position !== undefined && changed !== undefined) {
      list[position] = changed;
    }
    return list;
  }
  const name = typeof step === 'string' ? step : step[0];
  // Missing containers are not created: the user has removed them.
  if (!isJsonObject(container)) {
    return undefined;
  }
  const changed = setAt(own(container, name), depth + 1, restoring);
  if (changed === undefined) {
    return undefined;
  }
  const copy = draft(container, drafts);
  setOwn(copy, name, changed);
  return copy;
}

/** Whether a path can be one of the plan's: not too deep, with a single name for every step. */
function isPlainPath(path: readonly KeptStep[], maxDepth: number): boolean {
  return path.length <= maxDepth && path.every((step) => typeof step !== 'string' || !/[.[\]{}]/.test(step));
}

/**
 * Restores kept values where they are still missing and their container still exists. Values that `plan` (from this
 * version to the one that cannot represent them) would not have kept are ignored. Each value is restored once: of
 * several for one path the first counts or, if a list has several items with the same keys, the nth value belongs to
 * the nth of them. So time and the size of the result are linear in the object and the values.
 */
export function restore(object: JsonObject, values: readonly KeptValue[], plan: ConversionPlan): JsonObject {
  const { kept, listKeys } = plan;
  const drafts: Drafts = { copies: new Set(), positions: new Map() };
  const maxDepth = Math.max(0, ...[...kept.keys()].map((pattern) => tokensOf(pattern).length));
  const occurrences = new Map<string, number>();
  let restored = object;
  for (const { path, value } of values) {
    const pattern = isPlainPath(path, maxDepth) ? patternOf(path) : '';
    const limits = kept.get(pattern);
    if (!kept.has(pattern) || (limits !== undefined && fits(value, limits))) {
      continue;
    }
    const identity = pathIdentityOf(path);
    const occurrence = occurrences.get(identity) ?? 0;
    occurrences.set(identity, occurrence + 1);
    restored = (setAt(restored, 0, { path, listKeys, value, occurrence, hasTwins: false, drafts }) ??
      restored) as JsonObject;
  }
  return restored;
}
