import { isJsonObject, type Json, type JsonObject } from '../objects/json/json.ts';
import { joinPath, partsIn, propertyOf, type Schema } from './schema.ts';

const embedded = new Set<string | number>(['apiVersion', 'kind', 'metadata']);

export interface UnknownField {
  path: string;
  name: string;
  known: readonly string[];
}

/** Removes fields that a schema does not specify, in place, and returns them by path; a root keeps apiVersion, kind, metadata. */
export function removeUnknown(value: Json, schema: Schema, isRoot = true): UnknownField[] {
  const removed: UnknownField[] = [];
  pruneAt(value, schema, '', isRoot, removed);
  return removed.sort((a, b) => (a.path < b.path ? -1 : 1));
}

export const prune = (value: Json, schema: Schema, isRoot = true): string[] =>
  removeUnknown(value, schema, isRoot).map(({ path }) => path);

function pruneAt(value: Json, schema: Schema, path: string, isResource: boolean, removed: UnknownField[]): void {
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true;
  for (const { key, part, schema: inner } of partsIn(value, schema)) {
    if (isResource && embedded.has(key)) {
      continue;
    }
    if (inner !== undefined) {
      pruneAt(part, inner, joinPath(path, key), inner['x-kubernetes-embedded-resource'] === true, removed);
    } else if (!isOpen && isJsonObject(value)) {
      delete value[key];
      removed.push({ path: joinPath(path, key), name: String(key), known: Object.keys(schema.properties ?? {}) });
    }
  }
}

/** The zero values to which Go decodes null where a value is required; of numbers it is 0. */
const zeros: Readonly<Record<string, () => Json>> = {
  string: () => '',
  boolean: () => false,
  object: () => ({}),
  array: () => [],
};

/** Removes nulls, in place, as Go decodes its types: a null field is absent, a null item or map value the zero value. */
export function dropNulls(value: Json, schema: Schema): void {
  for (const { key, part, schema: inner } of partsIn(value, schema)) {
    if (inner === undefined || inner['x-kubernetes-preserve-unknown-fields'] === true) {
      continue;
    }
    if (part !== null) {
      dropNulls(part, inner);
    } else if (isJsonObject(value) && propertyOf(schema, String(key)) !== undefined) {
      delete value[key];
    } else {
      (value as JsonObject)[key] = zeros[inner.type ?? '']?.() ?? 0;
    }
  }
}

/** Removes null fields of a custom resource, in place, unless its schema allows null or has a default. */
export function dropNullFields(value: Json, schema: Schema): void {
  for (const { key, part, schema: inner } of partsIn(value, schema)) {
    if (inner === undefined) {
      continue;
    }
    if (part !== null) {
      dropNullFields(part, inner);
    } else if (isJsonObject(value) && inner.nullable !== true && inner.default === undefined) {
      delete value[key];
    }
  }
}
