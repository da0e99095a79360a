import { copyOf, isJsonObject, type Json, type JsonObject } from '../objects/json/json.ts';
import { joinPath, partsIn, propertyOf, type Schema } from './schema.ts';

const embedded = new Set<string | number>(['apiVersion', 'kind', 'metadata']);

/** A field that a schema does not name, and the names that it has in its place. */
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

/** Like `removeUnknown`, but returns only the paths. */
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
const zeros: Readonly<Record<string, Json>> = { string: '', boolean: false, object: {}, array: [] };

/**
 * Removes nulls, in place: of a custom resource those of fields whose schema has no default and does not allow null; else as Go
 * decodes its types, where a null field is absent, and a null item or map value the zero value.
 */
export function dropNulls(value: Json, schema: Schema, isCustom: boolean): void {
  for (const { key, part, schema: inner } of partsIn(value, schema)) {
    if (inner === undefined || (inner['x-kubernetes-preserve-unknown-fields'] === true && !isCustom)) {
      continue;
    }
    const isAbsent = isCustom
      ? inner.nullable !== true && inner.default === undefined
      : propertyOf(schema, String(key)) !== undefined;
    if (part !== null) {
      dropNulls(part, inner, isCustom);
    } else if (isJsonObject(value) && isAbsent) {
      delete value[key];
    } else if (!isCustom) {
      (value as JsonObject)[key] = copyOf(zeros[inner.type ?? ''] ?? 0);
    }
  }
}
