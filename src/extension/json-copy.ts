import { isJsonObject, type Json } from '../kubernetes/index.ts';

/** A deep copy of a value from JSON; several times faster than structuredClone, which looks for circles and classes. */
export function copyOf<T extends Json>(value: T): T {
  if (Array.isArray(value)) {
    return value.map(copyOf) as T;
  }
  if (isJsonObject(value)) {
    const copy: Record<string, Json> = {};
    for (const [name, field] of Object.entries(value)) {
      if (name === '__proto__') {
        Object.defineProperty(copy, name, {
          value: copyOf(field),
          enumerable: true,
          configurable: true,
          writable: true,
        });
      } else {
        copy[name] = copyOf(field);
      }
    }
    return copy as T;
  }
  return value;
}
