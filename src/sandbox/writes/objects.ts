import { isJsonObject, type Json, type JsonObject, parseJson } from '../../kubernetes/index.ts';
import { applyDefaults, dropNullFields, dropNulls, prune, validateSchema } from '../../kubernetes/schema/index.ts';
import { objectMetaSchema } from '../models/built-in-schemas.ts';
import { badRequest, unsupportedMediaType } from '../resources/errors.ts';
import { apiVersionOf, type Resource } from '../resources/resource.ts';

/** Maximum number of unknown fields that are reported, as in the API server's decoder. */
const maxUnknown = 100;

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
 * Brings a decoded object into the form of its resource, in place: checks apiVersion, kind and the types of metadata,
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
  if (resource.isCustom) {
    dropNulls(value.metadata, objectMetaSchema());
  } else {
    dropNulls(value, resource.schema);
  }
  const wrong = [
    ...validateSchema(value.metadata, { ...objectMetaSchema(), nullable: false }, { path: 'metadata' }),
    ...(resource.isCustom ? [] : validateSchema(value, resource.schema)),
    // Only problems that keep Go from decoding the object.
  ].filter(({ reason }) => reason === 'FieldValueTypeInvalid');
  if (wrong[0] !== undefined) {
    throw unusable(kind, `: ${wrong[0].message}`);
  }
  const unknown = [
    ...prune(value, resource.schema),
    ...prune(value.metadata, objectMetaSchema(), false).map((path) => `metadata.${path}`),
  ];
  const problems = unknown.slice(0, maxUnknown).map((path) => `unknown field ${JSON.stringify(path)}`);
  if (problems.length > 0 && validation === 'Strict') {
    throw unusable(kind, `: strict decoding error: ${problems.join(', ')}`);
  }
  if (validation !== 'Ignore') {
    problems.forEach(warn);
  }
  applyDefaults(value, resource.schema);
  if (resource.isCustom) {
    dropNullFields(value, resource.schema);
  }
  delete (value.metadata as JsonObject).managedFields;
  return value;
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
