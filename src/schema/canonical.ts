import { isJsonObject, type Json } from '../kubernetes/index.ts';

/** A string that is equal for equal JSON values, regardless of the order of their keys. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) {
    return `[${value.map(canonical).join(',')}]`;
  }
  if (isJsonObject(value)) {
    const keys = Object.keys(value).sort();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key] as Json)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}
