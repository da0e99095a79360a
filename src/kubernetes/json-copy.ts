import { isJsonObject, type Json, setOwn } from './json.ts';

/** A deep copy of a value from JSON; several times faster than structuredClone, which looks for circles and classes. */
export function copyOf<T extends Json>(value: T): T {
  if (Array.isArray(value)) {
    return value.map(copyOf) as T;
  }
  if (isJsonObject(value)) {
    const copy: Record<string, Json> = {};
    for (const [name, field] of Object.entries(value)) {
      setOwn(copy, name, copyOf(field));
    }
    return copy as T;
  }
  return value;
}
