import { type ReadObject, readCustomResource, unknownFieldTexts } from '../../kubernetes/custom-resources/index.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../kubernetes/index.ts';
import { applyDefaults, dropNulls, removeUnknown, type Schema, validateSchema } from '../../kubernetes/schema/index.ts';
import { objectMetaSchema } from '../models/built-in-schemas.ts';
import { badRequest, unsupportedMediaType } from '../resources/errors.ts';
import { apiVersionOf, type Resource } from '../resources/resource.ts';

const formats = new Map<string, { name: string; parse(body: Uint8Array, kind: string): Json | Promise<Json> }>([
  ['application/json', { name: 'json', parse: parseJson }],
  [
    'application/vnd.kubernetes.protobuf',
    // Loaded with the first such body, since most sandboxes never receive one.
    { name: 'protobuf', parse: async (body, kind) => (await import('./protobuf.ts')).parseProtobuf(body, kind) },
  ],
]);

export function mediaTypeOf(header: string | undefined): string {
  return (header ?? 'application/json').split(';')[0]?.trim().toLowerCase() ?? '';
}

/**
 * Reads a body as JSON or protobuf. `kind` is the expected kind.
 *
 * @throws {RequestError} 400 when it does not match its media type, 415 for another media type.
 */
export async function parseBody(body: Uint8Array, mediaType: string, kind: string): Promise<Json> {
  const format = formats.get(mediaType);
  if (format === undefined) {
    throw unsupportedMediaType([...formats.keys()]);
  }
  try {
    return await format.parse(body, kind);
  } catch (error) {
    const why = (error as Error).message;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; ${format.name} parse error: ${why}`,
    );
  }
}

/**
 * Brings a decoded object into the form of its resource: checks apiVersion, kind and the types of metadata,
 * drops (or rejects) unknown fields, and applies defaults.
 *
 * @throws {RequestError} 400.
 */
export function complete(
  value: Json,
  resource: Resource,
  validation: string | null,
  warn: (text: string) => void,
): JsonObject {
  if (!isJsonObject(value)) {
    throw badRequest(`the object provided is unrecognized (must be of type ${resource.kind}): it is not a JSON object`);
  }
  const apiVersion = apiVersionOf(resource);
  const { kind, version } = resource;
  const unusable = (what: string, why = '') =>
    badRequest(`${what} in version ${JSON.stringify(version)} cannot be handled as a ${kind}${why}`);
  value.apiVersion ??= apiVersion;
  value.kind ??= resource.kind;
  value.metadata ??= {};
  if (value.apiVersion !== apiVersion) {
    throw badRequest(
      `the API version in the data (${String(value.apiVersion)}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (value.kind !== resource.kind) {
    throw unusable(String(value.kind));
  }
  const { object, malformed, unknown } = (resource.isCustom ? readCustomResource : readBuiltIn)(value, resource.schema);
  if (malformed !== undefined) {
    throw unusable(kind, `: ${malformed}`);
  }
  const problems = unknownFieldTexts(unknown);
  if (problems.length > 0 && validation === 'Strict') {
    throw unusable(kind, `: strict decoding error: ${problems.join(', ')}`);
  }
  if (validation !== 'Ignore') {
    problems.forEach(warn);
  }
  delete (object.metadata as JsonObject).managedFields;
  return object;
}

/** Reads an object of one of Kubernetes' own kinds, in place. */
function readBuiltIn(object: JsonObject, schema: Schema): ReadObject {
  dropNulls(object, schema);
  const metadata = object.metadata as Json;
  const wrong = [
    ...validateSchema(metadata, { ...objectMetaSchema(), nullable: false }, { path: 'metadata' }),
    ...validateSchema(object, schema),
    // Only problems that keep Go from decoding the object.
  ].find(({ reason }) => reason === 'FieldValueTypeInvalid');
  if (wrong !== undefined) {
    return { object, malformed: wrong.message, unknown: [] };
  }
  const ofMetadata = removeUnknown(metadata, objectMetaSchema(), false);
  const unknown = [
    ...removeUnknown(object, schema),
    ...ofMetadata.map((field) => ({ ...field, path: `metadata.${field.path}` })),
  ];
  applyDefaults(object, schema);
  return { object, malformed: undefined, unknown };
}

/** Reads the object in the body of a request and completes it. @throws {RequestError} 400, 415. */
export async function readObject(
  body: Uint8Array,
  mediaType: string,
  resource: Resource,
  validation: string | null,
  warn: (text: string) => void,
): Promise<JsonObject> {
  return complete(await parseBody(body, mediaType, resource.kind), resource, validation, warn);
}
