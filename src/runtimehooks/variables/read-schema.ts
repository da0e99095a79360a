import { isJsonObject, itemsAt, type Json, type JsonObject, objectsAt, setOwn } from '../../kubernetes/index.ts';
import type { Schema } from '../../kubernetes/schema/index.ts';

/**
 * The fields of a variable's schema that are neither schemas nor arbitrary JSON, with their types (JSONSchemaProps of
 * core v1beta2).
 */
const plain: Readonly<Record<string, 'boolean' | 'number' | 'string'>> = {
  description: 'string',
  exclusiveMaximum: 'boolean',
  exclusiveMinimum: 'boolean',
  format: 'string',
  maxItems: 'number',
  maxLength: 'number',
  maxProperties: 'number',
  maximum: 'number',
  minItems: 'number',
  minLength: 'number',
  minProperties: 'number',
  minimum: 'number',
  pattern: 'string',
  type: 'string',
  uniqueItems: 'boolean',
  'x-kubernetes-int-or-string': 'boolean',
  'x-kubernetes-preserve-unknown-fields': 'boolean',
};

/** Fields with arbitrary JSON. Null is the same as absent. */
const any = ['default', 'example'] as const;

/**
 * The schema of a variable as Cluster API reads it (internal/topology/variables/schema.go, v1.14): unknown fields are
 * dropped, and so are fields of another type, with which the message as a whole cannot be decoded.
 */
export function readSchema(raw: JsonObject): Schema {
  const schema: JsonObject = {};
  for (const [name, type] of Object.entries(plain)) {
    const value = raw[name];
    // When Go serializes the schema, it omits zero values, which it does not distinguish from absent ones.
    if (typeof value === type && value !== '' && value !== false) {
      schema[name] = value as Json;
    }
  }
  for (const name of any) {
    const value = raw[name];
    if (value !== undefined && value !== null) {
      schema[name] = value;
    }
  }
  for (const name of ['items', 'additionalProperties', 'not'] as const) {
    const part = raw[name];
    if (isJsonObject(part)) {
      schema[name] = readSchema(part) as JsonObject;
    }
  }
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    const parts = objectsAt(raw[name]);
    if (parts.length > 0) {
      schema[name] = parts.map((part) => readSchema(part) as JsonObject);
    }
  }
  if (isJsonObject(raw.properties) && Object.keys(raw.properties).length > 0) {
    const properties: JsonObject = {};
    for (const [name, part] of Object.entries(raw.properties)) {
      setOwn(properties, name, isJsonObject(part) ? (readSchema(part) as JsonObject) : {});
    }
    schema.properties = properties;
  }
  const required = itemsAt(raw.required).filter((name) => typeof name === 'string');
  if (required.length > 0) {
    schema.required = required;
  }
  const allowed = itemsAt(raw.enum);
  if (allowed.length > 0) {
    schema.enum = allowed;
  }
  const rules = objectsAt(raw['x-kubernetes-validations']);
  if (rules.length > 0) {
    schema['x-kubernetes-validations'] = rules;
  }
  return schema as Schema;
}
