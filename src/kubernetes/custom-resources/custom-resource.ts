import { hasRules, validateRules } from '../cel/index.ts';
import type { StatusCause } from '../objects/errors/status.ts';
import { copyOf, type JsonObject, objectAt } from '../objects/json/json.ts';
import {
  applyDefaults,
  dropNulls,
  invalid,
  removeUnknown,
  type Schema,
  type UnknownField,
  validateListTypes,
  validateSchema,
} from '../schema/index.ts';
import { decodingProblem, type GoType } from './go-decoding.ts';
import { metadataCauses } from './metadata-causes.ts';
import metadataFields from './object-meta.json' with { type: 'json' };

/** metav1.ObjectMeta: the types of its fields. */
const objectMeta: GoType = { ...metadataFields, struct: 'ObjectMeta' };

/** A custom resource as an API server reads it. */
export interface ReadObject {
  /** Without unknown fields, with the defaults of its schema. */
  object: JsonObject;
  malformed: string | undefined;
  /** Fields that do not exist, those of the metadata first. */
  unknown: readonly UnknownField[];
}

/** An API server's words for unknown fields, one text each; it reports 100 at most. */
export const unknownFieldTexts = (unknown: readonly UnknownField[]): string[] =>
  unknown.slice(0, 100).map(({ path }) => `unknown field ${JSON.stringify(path)}`);

/** Reads a custom resource as an API server does, from a copy. @throws {DefaultsError} when its defaults exceed 8 MiB. */
export function readCustomResource(given: JsonObject, schema: Schema): ReadObject {
  const object = copyOf(given);
  const metadata = object.metadata ?? null;
  const malformed = decodingProblem(metadata, objectMeta);
  if (malformed !== undefined) {
    return { object, malformed, unknown: [] };
  }
  if (metadata !== null) {
    dropNulls(metadata, objectMeta, false);
  }
  const ofMetadata = metadata === null ? [] : removeUnknown(metadata, objectMeta, false);
  const unknown = [
    ...ofMetadata.map((field) => ({ ...field, path: `metadata.${field.path}` })),
    ...removeUnknown(object, schema),
  ];
  applyDefaults(object, schema);
  dropNulls(object, schema, true);
  return { object, malformed, unknown };
}

/** Problems of an object after which its rules are not evaluated (apiextensions-apiserver, hasBlockingErr). */
const blocking = new Set<string>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const unchecked = invalid(
  '<nil>',
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);

/**
 * Why an API server does not store a custom resource that was read, in its words and order: metadata, schema, types of lists,
 * rules. Parts that stay as they were in the old object are not judged (ratcheting validation).
 */
export function customResourceCauses(object: JsonObject, old: JsonObject | undefined, schema: Schema): StatusCause[] {
  const causes = [
    ...metadataCauses(objectAt(object, 'metadata'), old && objectAt(old, 'metadata')),
    ...validateSchema(object, schema, { old }),
    ...validateListTypes(object, schema, { old }),
  ];
  return causes.some(({ reason }) => blocking.has(reason))
    ? [...causes, ...(hasRules(schema) ? [unchecked] : [])]
    : [...causes, ...validateRules(object, old, schema)];
}
