import { isJsonObject, itemsAt, type Json, type JsonObject, own, setOwn } from '../../kubernetes/index.ts';
import type { Schema } from '../../kubernetes/schema/index.ts';
import type { MessageSchema } from '../catalog/schema.ts';
import { resolved } from '../messages/index.ts';

/** The schemas of variables in core v1beta2, as a type of messages. */
const schemaType: MessageSchema = {
  $ref: '#/components/schemas/sigs.k8s.io.cluster-api.api.core.v1beta2.JSONSchemaProps',
};

/** A value as Go reads it into a type; undefined for a value of another type, and what Go takes for absent. */
function typed(value: Json, schema: MessageSchema): Json | undefined {
  const { type, properties, additionalProperties, items = {} } = resolved(schema) ?? {};
  if (type === 'array') {
    const parts = itemsAt(value).map((item) => typed(item, items));
    const list = parts.filter((part) => part !== undefined);
    return list.length === 0 ? undefined : list;
  }
  if (type === 'object') {
    if (!isJsonObject(value)) {
      return undefined;
    }
    const fields: JsonObject = {};
    for (const [name, part] of Object.entries(value)) {
      const known = own(properties ?? {}, name) ?? additionalProperties;
      const field = known === undefined || part === null ? undefined : typed(part, known);
      if (field !== undefined && name !== 'x-metadata') {
        setOwn(fields, name, field);
      }
    }
    return additionalProperties !== undefined && Object.keys(fields).length === 0 ? undefined : fields;
  }
  const isOfType = type === undefined || typeof value === (type === 'integer' ? 'number' : type);
  // When Go serializes the schema, it omits zero values of texts and booleans.
  return isOfType && (type === undefined || (value !== '' && value !== false)) ? value : undefined;
}

/**
 * The schema of a variable as Cluster API reads it (internal/topology/variables/schema.go, v1.14): unknown fields are
 * dropped, and so are fields of another type, with which the message as a whole cannot be decoded.
 */
export function readSchema(raw: JsonObject): Schema {
  return typed(raw, schemaType) as Schema;
}
