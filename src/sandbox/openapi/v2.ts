import { isJsonObject, itemsAt, type Json, type JsonObject, objectAt } from '../../kubernetes/index.ts';

/** Fields of a schema that OpenAPI v2 lacks. */
const unknown = ['nullable', 'allOf', 'anyOf', 'oneOf', 'not'];

function mapValues(value: Json | undefined, convert: (item: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(objectAt(value)).map(([key, item]) => [key, convert(item)]));
}

/**
 * A schema of OpenAPI v3 as OpenAPI v2 can represent it (apiextensions-apiserver, ToStructuralOpenAPIV2): one that allows
 * null or unknown fields allows anything, since kubectl could not validate it.
 */
function schemaOf(value: Json): Json {
  if (!isJsonObject(value)) {
    return value;
  }
  const [all] = itemsAt(value, 'allOf');
  const reference = value.$ref ?? objectAt(all).$ref;
  if (typeof reference === 'string') {
    return { $ref: reference.replace('#/components/schemas/', '#/definitions/') };
  }
  const { properties, items, additionalProperties, type, ...rest } = value;
  const schema: JsonObject = Object.fromEntries(Object.entries(rest).filter(([field]) => !unknown.includes(field)));
  if (value.nullable === true) {
    return schema;
  }
  if (type !== undefined) {
    schema.type = type;
  }
  if (value['x-kubernetes-preserve-unknown-fields'] !== true) {
    return {
      ...schema,
      ...(properties === undefined ? {} : { properties: mapValues(properties, schemaOf) }),
      ...(items === undefined ? {} : { items: schemaOf(items) }),
      ...(additionalProperties === undefined ? {} : { additionalProperties: schemaOf(additionalProperties) }),
    };
  }
  return schema;
}

/** The OpenAPI v2 document with the schemas of OpenAPI v3 documents, and of other v2 documents. The work is linear in them. */
export function v2Of(documents: readonly JsonObject[], others: readonly JsonObject[], version: string): JsonObject {
  const schemas = Object.assign({}, ...documents.map((document) => objectAt(document, 'components', 'schemas')));
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version },
    paths: {},
    definitions: {
      ...Object.assign({}, ...others.map((document) => objectAt(document, 'definitions'))),
      ...mapValues(schemas, schemaOf),
    },
  };
}
