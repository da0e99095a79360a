import { copyOf, isJsonObject, type Json, type JsonObject, setOwn } from '../objects/json/json.ts';
import { ofAnyPart, partsIn, type Schema } from './schema.ts';

export const hasDefaults = ofAnyPart((schema) => schema.default !== undefined);

/** Maximum size of an object's defaults, in bytes of JSON: a small object may have a long list. */
const maxDefaultBytes = 8 * 1024 * 1024;

export class DefaultsError extends Error {}

function defaultOf(schema: Schema, room: { bytes: number }): Json {
  const value = schema.default as Json;
  room.bytes -= JSON.stringify(value).length + 8;
  if (room.bytes < 0) {
    throw new DefaultsError(`its defaults are longer than ${maxDefaultBytes} bytes`);
  }
  return copyOf(value);
}

/**
 * Applies defaults, in place: for absent properties, and for null where the schema does not allow it. Nothing is defaulted
 * inside an absent object, unless it has a default itself. @throws {DefaultsError} when the defaults exceed 8 MiB.
 */
export function applyDefaults(value: Json, schema: Schema, room = { bytes: maxDefaultBytes }): void {
  if (!hasDefaults(schema)) {
    return;
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property.default !== undefined && isJsonObject(value) && !Object.hasOwn(value, name)) {
      setOwn(value, name, defaultOf(property, room));
    }
  }
  for (const { key, part, schema: inner } of partsIn(value, schema)) {
    if (inner !== undefined) {
      const isMissing = part === null && inner.nullable !== true && inner.default !== undefined;
      const whole = isMissing ? defaultOf(inner, room) : part;
      (value as JsonObject)[key] = whole;
      applyDefaults(whole, inner, room);
    }
  }
}
