import { isJsonObject, type Json } from '../../kubernetes/index.ts';

const isZero = (value: Json): boolean =>
  value === '' || value === 0 || value === false || (isJsonObject(value) && Object.keys(value).length === 0);

/**
 * A value as Go's structs have it after decoding, so that two of them are the same if reflect.DeepEqual says so: null is
 * absent, and so is the zero value of a field that is not a pointer. Empty lists are values of their own.
 *
 * @param pointers names of the fields that are pointers or maps, whose zero values are not absent.
 */
export function goValue(value: Json, pointers: ReadonlySet<string>): Json {
  if (Array.isArray(value)) {
    return value.map((item) => goValue(item, pointers));
  }
  if (!isJsonObject(value)) {
    return value;
  }
  const fields = Object.entries(value).map(([name, field]) => [name, goValue(field, pointers)] as const);
  return Object.fromEntries(fields.filter(([name, field]) => field !== null && (pointers.has(name) || !isZero(field))));
}
