import { isJsonObject, type Json, type JsonObject } from '../kubernetes/index.ts';
import { badRequest } from './errors.ts';
import { copyOf, fieldOf, type Schema, sameJson } from './schema.ts';

const directive = '$patch';
const retainKeys = '$retainKeys';
const deleteFromList = '$deleteFromPrimitiveList/';
const elementOrder = '$setElementOrder/';

/**
 * Applies a strategic merge patch to a copy: a merge patch in which lists that have a merge key (in the schema) are
 * merged item by item, with the directives `$patch`, `$retainKeys`, `$deleteFromPrimitiveList` and `$setElementOrder`.
 *
 * @throws {ApiError} 400 for an unknown directive or an item without its merge key.
 */
export function applyStrategicMerge(target: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
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
    const retained = patch[retainKeys];
    merged = Object.fromEntries(Object.entries(merged).filter(([key]) => retained.includes(key)));
  }
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith(deleteFromList) && Array.isArray(value)) {
      const field = key.slice(deleteFromList.length);
      const list = merged[field];
      if (Array.isArray(list)) {
        merged[field] = list.filter((item) => !value.some((gone) => sameJson(gone, item)));
      }
    } else if (key.startsWith('$')) {
      // The rest are read with the list they are about.
    } else if (value === null) {
      delete merged[key];
    } else {
      merged[key] = mergeField(merged[key], value, fieldOf(schema, key));
    }
  }
  for (const [key, order] of Object.entries(patch)) {
    const field = key.slice(elementOrder.length);
    if (key.startsWith(elementOrder) && Array.isArray(order) && Array.isArray(merged[field])) {
      merged[field] = inOrder(merged[field], order, fieldOf(schema, field)?.['x-kubernetes-patch-merge-key']);
    }
  }
  return merged;
}

function mergeField(target: Json | undefined, value: Json, schema: Schema | undefined): Json {
  if (isJsonObject(value)) {
    return applyStrategicMerge(isJsonObject(target) ? target : {}, value, schema);
  }
  if (!Array.isArray(value) || schema?.['x-kubernetes-patch-strategy'] !== 'merge') {
    return copyOf(value);
  }
  const list = Array.isArray(target) ? target : [];
  const mergeKey = schema['x-kubernetes-patch-merge-key'];
  if (mergeKey === undefined) {
    return [...list, ...value.filter((item) => !list.some((known) => sameJson(known, item)))];
  }
  return mergeList(list, value, mergeKey, schema.items);
}

function mergeList(list: Json[], patch: Json[], mergeKey: string, items: Schema | undefined): Json[] {
  let merged = [...list];
  if (patch.some((item) => isJsonObject(item) && item[directive] === 'replace')) {
    return copyOf(patch.filter((item) => !(isJsonObject(item) && item[directive] === 'replace')));
  }
  for (const item of patch) {
    if (!isJsonObject(item) || item[mergeKey] === undefined) {
      throw badRequest(`an item of the patch does not contain the merge key ${JSON.stringify(mergeKey)}`);
    }
    const isSame = (known: Json) => isJsonObject(known) && sameJson(known[mergeKey], item[mergeKey]);
    if (item[directive] === 'delete') {
      merged = merged.filter((known) => !isSame(known));
    } else if (merged.some(isSame)) {
      merged = merged.map((known) => (isSame(known) ? applyStrategicMerge(known as JsonObject, item, items) : known));
    } else {
      merged.push(applyStrategicMerge({}, item, items));
    }
  }
  return merged;
}

/** The items in the order the patch asks for; items it does not name stay behind the one they followed. */
function inOrder(list: Json[], order: Json[], mergeKey: string | undefined): Json[] {
  const identity = (item: Json) =>
    JSON.stringify(mergeKey !== undefined && isJsonObject(item) ? (item[mergeKey] ?? null) : item);
  const positions = new Map(order.map((item, index) => [identity(item), index]));
  let last = -1;
  return list
    .map((item, index) => {
      last = positions.get(identity(item)) ?? last;
      return { item, at: last, index };
    })
    .sort((a, b) => a.at - b.at || a.index - b.index)
    .map(({ item }) => item);
}
