import {
  applyOperations,
  canonical,
  copyOf,
  isJsonObject,
  isOperation,
  itemsAt,
  type Json,
  type JsonObject,
  maxPatchOperations,
  objectAt,
  own,
  PatchError,
  type PatchOperation,
  setOwn,
} from '../../kubernetes/index.ts';
import { fieldOf, type Schema } from '../../kubernetes/schema/index.ts';
import { badRequest, failed, tooLarge } from '../resources/errors.ts';

/** Applies a JSON Patch (RFC 6902) to a copy. @throws {RequestError} 400, 413, or 422 if it cannot be applied. */
export function applyJsonPatch(object: JsonObject, patch: Json): JsonObject {
  if (!Array.isArray(patch) || !patch.every(isOperation)) {
    throw badRequest(
      'error decoding patch: a JSON patch is an array of operations, each with op and path (a JSON pointer), move and copy with from',
    );
  }
  if (patch.length > maxPatchOperations) {
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${maxPatchOperations}, got ${patch.length}`);
  }
  try {
    return applyOperations(object, patch as unknown as PatchOperation[]) as JsonObject;
  } catch (error) {
    if (!(error instanceof PatchError)) {
      throw error;
    }
    const message = `the server rejected our request due to an error in our request: ${error.message}`;
    throw failed(422, 'Invalid', message, {});
  }
}

const directive = '$patch';
const retainKeys = '$retainKeys';
const deleteFromList = '$deleteFromPrimitiveList/';

/** Maximum number of items of a patch with the key of an earlier one: each takes as long as to copy what it changes. */
const maxRepeated = 100;

interface Work {
  repeated: number;
}

/** Applies a strategic merge patch, except the order of lists, to a copy. @throws {RequestError} 400. */
export function applyStrategicMerge(target: JsonObject, patch: Json, schema: Schema): JsonObject {
  return mergeObject(target, objectAt(patch), schema, { repeated: 0 });
}

function mergeObject(target: JsonObject, patch: JsonObject, schema: Schema | undefined, work: Work): JsonObject {
  if (patch[directive] === 'replace') {
    const { [directive]: _, ...rest } = patch;
    return copyOf(rest);
  }
  if (patch[directive] === 'delete') {
    return {};
  }
  if (patch[directive] !== undefined && patch[directive] !== 'merge') {
    throw badRequest(`unknown patch type ${JSON.stringify(patch[directive])}; $patch is replace, delete or merge`);
  }
  let merged: JsonObject = { ...target };
  if (Array.isArray(patch[retainKeys])) {
    const retained = new Set(patch[retainKeys]);
    merged = Object.fromEntries(Object.entries(merged).filter(([key]) => retained.has(key)));
  }
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith(deleteFromList) && Array.isArray(value)) {
      const field = key.slice(deleteFromList.length);
      const list = own(merged, field);
      if (Array.isArray(list)) {
        const gone = new Set(value.map(canonical));
        const left = list.filter((item) => !gone.has(canonical(item)));
        setOwn(merged, field, left);
      }
    } else if (key.startsWith('$')) {
      // The order of a list, which stays.
    } else if (value === null) {
      delete merged[key];
    } else {
      setOwn(merged, key, mergeField(own(merged, key), value, fieldOf(schema, key), work));
    }
  }
  return merged;
}

function mergeField(target: Json | undefined, value: Json, schema: Schema | undefined, work: Work): Json {
  if (isJsonObject(value)) {
    return mergeObject(objectAt(target), value, schema, work);
  }
  if (!Array.isArray(value) || schema?.['x-kubernetes-patch-strategy'] !== 'merge') {
    return copyOf(value);
  }
  const list = itemsAt(target);
  const mergeKey = schema['x-kubernetes-patch-merge-key'];
  if (mergeKey === undefined) {
    const known = new Set(list.map(canonical));
    return [...list, ...value.filter((item) => !known.has(canonical(item)))];
  }
  return mergeList(list, value, mergeKey, schema.items, work);
}

function mergeList(list: Json[], patch: Json[], mergeKey: string, items: Schema | undefined, work: Work): Json[] {
  const given = patch.filter((item) => objectAt(item)[directive] !== 'replace');
  if (given.length < patch.length) {
    return copyOf(given);
  }
  /** The items by their merge keys: of several with the same key, the first is merged, as in Kubernetes. */
  const groups = Map.groupBy(list, (item, index) => {
    const value = objectAt(item)[mergeKey];
    return value === undefined ? `#${index}` : canonical(value);
  });
  const touched = new Set<string>();
  for (const item of patch) {
    if (!isJsonObject(item) || item[mergeKey] === undefined) {
      throw badRequest(`an item of the patch does not contain the merge key ${JSON.stringify(mergeKey)}`);
    }
    const key = canonical(item[mergeKey]);
    if (item[directive] === 'delete') {
      groups.delete(key);
      continue;
    }
    work.repeated += touched.has(key) ? 1 : 0;
    if (work.repeated > maxRepeated) {
      throw badRequest(`the patch has too many items with the same merge key, ${mergeKey}: write each item once`);
    }
    touched.add(key);
    const [first, ...others] = groups.get(key) ?? [];
    groups.set(key, [mergeObject(objectAt(first), item, items, work), ...others]);
  }
  return [...groups.values()].flat();
}

/** What a manager's first server-side apply makes of a copy (structured-merge-diff): what is given is set, the rest stays. */
export function applyFirst(current: Json | undefined, given: Json, schema: Schema | undefined): Json {
  if (isJsonObject(current) && isJsonObject(given) && schema?.['x-kubernetes-map-type'] !== 'atomic') {
    const result = { ...current };
    for (const [name, value] of Object.entries(given)) {
      setOwn(result, name, applyFirst(own(current, name), value, fieldOf(schema, name)));
    }
    return result;
  }
  const type = schema?.['x-kubernetes-list-type'];
  if (!Array.isArray(current) || !Array.isArray(given) || (type !== 'map' && type !== 'set')) {
    return given;
  }
  const names = schema?.['x-kubernetes-list-map-keys'] ?? [];
  const keyOf = (item: Json) => canonical(type === 'set' ? item : names.map((name) => objectAt(item)[name] ?? null));
  const items = new Map(current.map((item) => [keyOf(item), item]));
  for (const item of given) {
    const ofItem = Array.isArray(schema?.items) ? undefined : schema?.items;
    items.set(keyOf(item), applyFirst(items.get(keyOf(item)), item, ofItem));
  }
  return [...items.values()];
}
