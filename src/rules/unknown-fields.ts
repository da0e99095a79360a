import type { OpenApiSchema } from '../api/index.ts';
import { type FieldPath, isJsonObject } from '../kubernetes/index.ts';

/** The fields of an object that its schema does not have. Everything below an unknown field is left out. */
export function* unknownFieldsOf(value: unknown, schema: OpenApiSchema, path: FieldPath = []): Generator<FieldPath> {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) {
      for (const [index, item] of value.entries()) {
        yield* unknownFieldsOf(item, schema.items, [...path, index]);
      }
    }
    return;
  }
  if (!isJsonObject(value) || schema.properties === undefined) {
    return;
  }
  for (const [key, field] of Object.entries(value)) {
    const fieldSchema = Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
    if (fieldSchema === undefined) {
      yield [...path, key];
    } else if (typeof field === 'object') {
      yield* unknownFieldsOf(field, fieldSchema, [...path, key]);
    }
  }
}
