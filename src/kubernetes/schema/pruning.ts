import { isJsonObject, type Json } from '../objects/json/json.ts';
import { fieldOf, joinPath, propertyOf, type Schema } from './schema.ts';

const embedded = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Removes fields that a structural schema does not specify, in place.
 *
 * @param isRoot keeps apiVersion, kind and metadata, which every object has whatever its schema says.
 * @returns the paths of the removed fields (`spec.bar`, `spec.list[0].foo`).
 */
export function prune(value: Json, schema: Schema, isRoot = true): string[] {
  const removed: string[] = [];
  pruneAt(value, schema, '', isRoot, removed);
  return removed.sort();
}

function pruneAt(value: Json, schema: Schema, path: string, isResource: boolean, removed: string[]): void {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) {
      for (const [index, item] of value.entries()) {
        pruneAt(
          item,
          schema.items,
          `${path}[${index}]`,
          schema.items['x-kubernetes-embedded-resource'] === true,
          removed,
        );
      }
    }
    return;
  }
  if (!isJsonObject(value)) {
    return;
  }
  for (const key of Object.keys(value)) {
    const keyPath = joinPath(path, key);
    if (isResource && embedded.has(key)) {
      continue;
    }
    const field = fieldOf(schema, key);
    if (field !== undefined) {
      pruneAt(value[key] as Json, field, keyPath, field['x-kubernetes-embedded-resource'] === true, removed);
    } else if (schema['x-kubernetes-preserve-unknown-fields'] !== true && schema.additionalProperties !== true) {
      delete value[key];
      removed.push(keyPath);
    }
  }
}

/** The zero value to which Go decodes null where a value is required. */
function zeroOf(schema: Schema): Json {
  switch (schema.type) {
    case 'string':
      return '';
    case 'boolean':
      return false;
    case 'object':
      return {};
    case 'array':
      return [];
    default:
      return 0;
  }
}

/**
 * Removes nulls, in place, as Go does when it decodes one of its own types: a null field counts as absent, and a null
 * item or map value becomes the zero value. Parts that may contain any JSON are not changed.
 */
export function dropNulls(value: Json, schema: Schema): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items !== undefined) {
      for (const [index, item] of value.entries()) {
        if (item === null) {
          value[index] = zeroOf(items);
        } else {
          dropNulls(item, items);
        }
      }
    }
    return;
  }
  if (!isJsonObject(value)) {
    return;
  }
  for (const key of Object.keys(value)) {
    const field = fieldOf(schema, key);
    if (field === undefined || field['x-kubernetes-preserve-unknown-fields'] === true) {
      continue;
    }
    if (value[key] !== null) {
      dropNulls(value[key] as Json, field);
    } else if (propertyOf(schema, key) !== undefined) {
      delete value[key];
    } else {
      value[key] = zeroOf(field);
    }
  }
}
