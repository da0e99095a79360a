import { type Json, type JsonObject, setOwn } from '../../kubernetes/index.ts';

/**
 * A copy of an object, without one of its properties. Spread syntax takes three times as long for an object of 10^5
 * properties.
 */
export function copyWithout(object: JsonObject, name?: string): JsonObject {
  const copy: JsonObject = {};
  for (const key of Object.keys(object)) {
    if (key !== name) {
      setOwn(copy, key, object[key] as Json);
    }
  }
  return copy;
}
