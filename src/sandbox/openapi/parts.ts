import { isJsonObject, itemsAt, type Json, type JsonObject, objectAt } from '../../kubernetes/index.ts';

export function mapValues(value: Json | undefined, convert: (item: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(objectAt(value)).map(([key, item]) => [key, convert(item)]));
}

/** A schema with other schemas in the place of those inside it. */
export function mapParts(schema: JsonObject, convert: (part: Json) => Json): JsonObject {
  const entries = Object.entries(schema).map(([key, value]): [string, Json] => {
    if (key === 'properties') {
      return [key, mapValues(value, convert)];
    }
    if (['allOf', 'anyOf', 'oneOf'].includes(key)) {
      return [key, itemsAt(value).map(convert)];
    }
    return [
      key,
      ['items', 'additionalProperties', 'not'].includes(key) && isJsonObject(value) ? convert(value) : value,
    ];
  });
  return Object.fromEntries(entries);
}
