import { type FieldPath, isJsonObject, own } from '../../../kubernetes/index.ts';
import type { Schema } from '../../../kubernetes/schema/index.ts';

/** Reports the fields of an object that are not in its schema, but nothing inside an unknown field. */
export function forUnknownFields(
  value: unknown,
  schema: Schema,
  report: (path: FieldPath) => void,
  path: FieldPath = [],
): void {
  const { items, properties } = schema;
  if (Array.isArray(value)) {
    if (items?.properties !== undefined) {
      for (const [index, item] of value.entries()) {
        forUnknownFields(item, items, report, [...path, index]);
      }
    }
    return;
  }
  if (!isJsonObject(value) || properties === undefined) {
    return;
  }
  for (const key of Object.keys(value)) {
    const fieldSchema = own(properties, key);
    if (fieldSchema === undefined) {
      report([...path, key]);
    } else if (typeof value[key] === 'object') {
      forUnknownFields(value[key], fieldSchema, report, [...path, key]);
    }
  }
}
