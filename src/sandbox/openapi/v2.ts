import { isJsonObject, itemsAt, type Json, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { mapParts, mapValues } from '../models/models.ts';

const unknown = ['nullable', 'allOf', 'anyOf', 'oneOf', 'not'];

/** As OpenAPI v2 can represent a schema (apiextensions-apiserver, ToStructuralOpenAPIV2): null or unknown fields allow anything. */
function schemaOf(value: Json): Json {
  if (!isJsonObject(value)) {
    return value;
  }
  const [all] = itemsAt(value, 'allOf');
  const reference = value.$ref ?? objectAt(all).$ref;
  if (typeof reference === 'string') {
    return { $ref: reference.replace('#/components/schemas/', '#/definitions/') };
  }
  const isOpen = value.nullable === true || value['x-kubernetes-preserve-unknown-fields'] === true;
  const left = new Set([
    ...unknown,
    ...(isOpen ? ['properties', 'items', 'additionalProperties'] : []),
    ...(value.nullable === true ? ['type'] : []),
  ]);
  return mapParts(Object.fromEntries(Object.entries(value).filter(([field]) => !left.has(field))), schemaOf);
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
