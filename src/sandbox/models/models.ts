import { isJsonObject, itemsAt, type Json, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import type { Schema } from '../../kubernetes/schema/index.ts';
import models from './models.generated.json' with { type: 'json' };

export const referencePrefix = '#/components/schemas/';

/** Kubernetes' own types by name (`io.k8s.api.v1.Secret`), from @kubernetes/client-node; complete for kinds that are validated. */
export const modelSchemas: Readonly<Record<string, JsonObject>> = models;

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

const schemas = new Map<string, Schema>();

/** The structural schema of a model, without references: it may be recursive. */
export function schemaOfModel(name: string): Schema {
  const known = schemas.get(name);
  if (known !== undefined) {
    return known;
  }
  const schema: Schema = {};
  schemas.set(name, schema);
  const resolved = (part: Json): Json => {
    const { $ref } = objectAt(part);
    return typeof $ref === 'string'
      ? (schemaOfModel($ref.slice(referencePrefix.length)) as Json)
      : mapParts(objectAt(part), resolved);
  };
  return Object.assign(schema, mapParts(modelSchemas[name] as JsonObject, resolved));
}
