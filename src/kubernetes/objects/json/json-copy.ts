import { isJsonObject, type Json, type JsonObject, setOwn } from './json.ts';

/** A deep copy of a JSON value; several times faster than structuredClone, which checks for cycles and classes. */
export function copyOf<T extends Json>(value: T): T {
  if (Array.isArray(value)) {
    return value.map(copied) as T;
  }
  if (isJsonObject(value)) {
    // Most fields are strings and numbers: the engine copies them all at once.
    const copy: JsonObject = { ...value };
    for (const name in copy) {
      const field = copy[name];
      if (typeof field === 'object' && field !== null) {
        setOwn(copy, name, copyOf(field));
      }
    }
    return copy as T;
  }
  return value;
}

/** Most fields are strings and numbers, for which a call costs more than the copy. */
const copied = (field: Json): Json => (typeof field === 'object' && field !== null ? copyOf(field) : field);
