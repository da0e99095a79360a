import { fieldAt, isJsonObject, type Json, type JsonObject } from '../../kubernetes/index.ts';
import type { Column } from '../resources/resource.ts';

/** A column of the tables that `kubectl get` prints; `value` is a JSON path, or reads it from the object. */
export function column(name: string, value: Column['value'], type = 'string', description = name): Column {
  return { name, type, description, priority: 0, value };
}

/** The number of items or fields of a value; 0 for any other value. */
export function sizeOf(value: Json | undefined): number {
  return Array.isArray(value) ? value.length : isJsonObject(value) ? Object.keys(value).length : 0;
}

export function countedAt(object: JsonObject, ...path: string[]): number {
  return Number(fieldAt(object, ...path) ?? 0);
}

export const age = column(
  'Age',
  '.metadata.creationTimestamp',
  'date',
  'Time since the object was created, on the clock of the server',
);
