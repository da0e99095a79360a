import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { hubVersion } from '../../src/extensionconfig/index.ts';
import { definition } from './definition.ts';

const objectMeta = {
  description: 'metav1.ObjectMeta, with the fields that this program reads.',
  type: 'object',
  properties: {
    name: { type: 'string' },
    generateName: { type: 'string' },
    namespace: { type: 'string' },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    deletionTimestamp: { type: 'string' },
  },
};

/**
 * The part of a schema that decoding guarantees: the JSON type of every field. Required fields, lengths and enumerated
 * values are checked by rules, so the types must not claim them.
 */
function decoded(schema: Record<string, unknown>): Record<string, unknown> {
  const { required, enum: _, minItems, maxItems, ...result } = schema;
  if (schema.properties !== undefined) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties as Record<string, Record<string, unknown>>).map(([key, value]) => [
        key,
        decoded(value),
      ]),
    );
    result.additionalProperties = false;
  }
  if (schema.items !== undefined) {
    result.items = decoded(schema.items as Record<string, unknown>);
  }
  return result;
}

/** The TypeScript source of the hub version's types, generated from the CustomResourceDefinition. */
export async function hubTypes(): Promise<string> {
  const { openAPIV3Schema } = definition.spec.versions.find(({ name }) => name === hubVersion)!.schema;
  const schema = decoded(structuredClone(openAPIV3Schema) as Record<string, unknown>);
  (schema.properties as Record<string, unknown>).metadata = decoded(objectMeta);
  schema.title = 'ExtensionConfig';
  schema.required = ['apiVersion', 'kind', 'metadata'];
  return compile(schema as JSONSchema, 'ExtensionConfig', {
    bannerComment: '// Generated from manifests/crd by `npm run generate`. Do not edit.',
    style: { singleQuote: true, printWidth: 120 },
  });
}
