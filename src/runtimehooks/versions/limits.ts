import { charactersIn } from '../../base/index.ts';
import { isJsonObject, type Json } from '../../kubernetes/index.ts';
import type { Schema } from '../../kubernetes/schema/index.ts';

const lower = ['minimum', 'minLength', 'minItems', 'minProperties'] as const;
const upper = ['maximum', 'maxLength', 'maxItems', 'maxProperties'] as const;

/** The keywords because of which the schema `to` may reject a value that `from` accepts, not counting nested fields. */
export function tightened(from: Schema, to: Schema): string[] {
  const found: string[] = [
    ...lower.filter((key) => (to[key] ?? Number.NEGATIVE_INFINITY) > (from[key] ?? Number.NEGATIVE_INFINITY)),
    ...upper.filter((key) => (to[key] ?? Number.POSITIVE_INFINITY) < (from[key] ?? Number.POSITIVE_INFINITY)),
  ];
  if (to.enum !== undefined && !from.enum?.every((value) => to.enum?.includes(value))) {
    found.push('enum');
  }
  for (const key of ['pattern', 'format'] as const) {
    if (to[key] !== undefined && to[key] !== from[key]) {
      found.push(key);
    }
  }
  if (from.nullable && !to.nullable) {
    found.push('nullable');
  }
  return found;
}

/** Whether `fits` checks a keyword. */
export function canCheck(keyword: string): boolean {
  return keyword !== 'format' && keyword !== 'nullable';
}

function isWithin(size: number, min: number | undefined, max: number | undefined): boolean {
  return size >= (min ?? 0) && size <= (max ?? Number.POSITIVE_INFINITY);
}

/** Whether a value is within the limits of a schema, not counting nested fields. A value of another type always is. */
export function fits(value: Json, schema: Schema): boolean {
  if (schema.enum !== undefined && typeof value === schema.type && !schema.enum.includes(value)) {
    return false;
  }
  if (typeof value === 'number') {
    return (
      value >= (schema.minimum ?? Number.NEGATIVE_INFINITY) && value <= (schema.maximum ?? Number.POSITIVE_INFINITY)
    );
  }
  if (typeof value === 'string') {
    const hasLimit = schema.minLength !== undefined || schema.maxLength !== undefined;
    return (
      (!hasLimit || isWithin(charactersIn(value), schema.minLength, schema.maxLength)) &&
      (schema.pattern === undefined || new RegExp(schema.pattern, 'u').test(value))
    );
  }
  if (Array.isArray(value)) {
    return isWithin(value.length, schema.minItems, schema.maxItems);
  }
  return !isJsonObject(value) || isWithin(Object.keys(value).length, schema.minProperties, schema.maxProperties);
}
