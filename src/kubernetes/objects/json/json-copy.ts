import { isJsonObject, type Json, type JsonObject, setOwn } from './json.ts';

/** A deep copy of a JSON value; several times faster than structuredClone, which checks for cycles and classes. */
export function copyOf<T extends Json>(value: T): T {
  if (Array.isArray(value)) {
    return value.map(copied) as T;
  }
  if (isJsonObject(value)) {
    const copy: Record<string, Json> = {};
    // A JSON value has only own enumerable properties.
    for (const name in value as JsonObject) {
      setOwn(copy, name, copied((value as JsonObject)[name] as Json));
    }
    return copy as T;
  }
  return value;
}

/** Most fields are strings and numbers, for which a call costs more than the copy. */
const copied = (field: Json): Json => (typeof field === 'object' && field !== null ? copyOf(field) : field);
