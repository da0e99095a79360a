import { isJsonObject, type Json, setOwn } from '../objects/json/json.ts';
import { copyOf } from '../objects/json/json-copy.ts';
import { fieldOf, type Schema } from './schema.ts';

const withDefaults = new WeakMap<Schema, boolean>();

export function hasDefaults(schema: Schema): boolean {
  const known = withDefaults.get(schema);
  if (known !== undefined) {
    return known;
  }
  // Recursive schemas (JSONSchemaProps) reach this schema again.
  withDefaults.set(schema, false);
  const { items, additionalProperties, properties = {} } = schema;
  const result =
    schema.default !== undefined ||
    (items !== undefined && hasDefaults(items)) ||
    (typeof additionalProperties === 'object' && hasDefaults(additionalProperties)) ||
    Object.values(properties).some(hasDefaults);
  withDefaults.set(schema, result);
  return result;
}

/**
 * Maximum size of an object's defaults, in bytes of JSON: otherwise a small object with a long list could become very
 * large.
 */
const maxDefaultBytes = 8 * 1024 * 1024;

export class DefaultsError extends Error {}

/** A copy of a schema's default. @throws {DefaultsError} when it exceeds the limit. */
function defaultOf(schema: Schema, room: { bytes: number }): Json {
  const value = schema.default as Json;
  room.bytes -= JSON.stringify(value).length + 8;
  if (room.bytes < 0) {
    throw new DefaultsError(`its defaults are longer than ${maxDefaultBytes} bytes`);
  }
  return copyOf(value);
}

/**
 * Applies defaults, in place: for properties that are absent, and for those that are null where the schema does not
 * allow null. Nothing is defaulted inside an absent object, unless it has a default itself.
 *
 * @throws {DefaultsError} when the defaults exceed 8 MiB.
 */
export function applyDefaults(value: Json, schema: Schema, room = { bytes: maxDefaultBytes }): void {
  if (!hasDefaults(schema)) {
    return;
  }
  if (Array.isArray(value)) {
    if (schema.items !== undefined) {
      for (const [index, item] of value.entries()) {
        if (item === null && schema.items.nullable !== true && schema.items.default !== undefined) {
          value[index] = defaultOf(schema.items, room);
        }
        applyDefaults(value[index] as Json, schema.items, room);
      }
    }
    return;
  }
  if (!isJsonObject(value)) {
    return;
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isMissing = !Object.hasOwn(value, name) || (value[name] === null && property.nullable !== true);
    if (property.default !== undefined && isMissing) {
      setOwn(value, name, defaultOf(property, room));
    }
  }
  for (const key of Object.keys(value)) {
    const field = fieldOf(schema, key);
    if (field !== undefined) {
      applyDefaults(value[key] as Json, field, room);
    }
  }
}
