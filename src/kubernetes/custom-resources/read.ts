import { copyOf, type JsonObject } from '../objects/json/json.ts';
import {
  applyDefaults,
  dropNullFields,
  dropNulls,
  removeUnknown,
  type Schema,
  type UnknownField,
} from '../schema/index.ts';
import { decodingProblem, type GoType } from './go-decoding.ts';
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
    dropNulls(metadata, objectMeta);
  }
  const ofMetadata = metadata === null ? [] : removeUnknown(metadata, objectMeta, false);
  const unknown = [
    ...ofMetadata.map((field) => ({ ...field, path: `metadata.${field.path}` })),
    ...removeUnknown(object, schema),
  ];
  applyDefaults(object, schema);
  dropNullFields(object, schema);
  return { object, malformed, unknown };
}
