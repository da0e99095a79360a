import type { Json, JsonObject } from '../kubernetes/index.ts';

/** The value of an object's own property, or undefined. */
export function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
