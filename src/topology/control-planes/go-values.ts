import { isJsonObject, type Json } from '../../kubernetes/index.ts';

/** The fields of Go's structs whose zero values are not absent: pointers, maps (their keys are no fields), and JSON as it is. */
export type GoFields = ReadonlyMap<string, 'pointer' | 'map' | 'json'>;

export const goFields = (names: { pointer?: string[]; map?: string[]; json?: string[] }): GoFields =>
  new Map(
    (['pointer', 'map', 'json'] as const).flatMap((type) => (names[type] ?? []).map((name) => [name, type] as const)),
  );

const isZero = (value: Json): boolean =>
  value === '' || value === 0 || value === false || (isJsonObject(value) && Object.keys(value).length === 0);

function fieldValue(value: Json, fields: GoFields, type: 'pointer' | 'map' | 'json' | undefined): Json {
  if (type === 'json') {
    return value;
  }
  return type === 'map' && isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, goValue(entry, fields)]))
    : goValue(value, fields);
}

/**
 * A value as Go's reflect.DeepEqual compares it: null is absent, and so is the zero value of a field that is not among `fields`.
 * Empty lists are values of their own.
 */
export function goValue(value: Json, fields: GoFields): Json {
  if (Array.isArray(value)) {
    return value.map((item) => goValue(item, fields));
  }
  if (!isJsonObject(value)) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => {
      const type = fields.get(name);
      const known = field === null ? null : fieldValue(field, fields, type);
      return known === null || (type === undefined && isZero(known)) ? [] : [[name, known]];
    }),
  );
}
