import { NotEvaluated } from '../../kubernetes/cel/index.ts';
import {
  customResourceCauses,
  decodingProblem,
  metadataCauses,
  readCustomResource,
  unknownFieldTexts,
} from '../../kubernetes/custom-resources/index.ts';
import {
  isJsonObject,
  itemsAt,
  type Json,
  type JsonObject,
  parseJson,
  type StatusCause,
} from '../../kubernetes/index.ts';
import { dropNulls, validateSchema } from '../../kubernetes/schema/index.ts';
import { badRequest, internalError, unsupportedMediaType } from '../resources/errors.ts';
import { apiVersionOf, metadataOf, type Resource } from '../resources/resource.ts';

const inJson = 'application/json';
const inProtobuf = 'application/vnd.kubernetes.protobuf';

export function mediaTypeOf(header: string | undefined): string {
  return (header ?? inJson).split(';')[0]?.trim().toLowerCase() ?? '';
}

/** Reads JSON or protobuf of a kind. @throws {RequestError} 400, and 415 for another media type. */
export async function parseBody(body: Uint8Array, mediaType: string, kind: string): Promise<Json> {
  if (mediaType !== inJson && mediaType !== inProtobuf) {
    throw unsupportedMediaType([inJson, inProtobuf]);
  }
  try {
    // Protobuf is loaded with the first such body, since most sandboxes never receive one.
    return mediaType === inJson ? parseJson(body) : (await import('./protobuf.ts')).parseProtobuf(body, kind);
  } catch (error) {
    const why = `${mediaType === inJson ? 'json' : 'protobuf'} parse error: ${(error as Error).message}`;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; ${why}`,
    );
  }
}

/** Brings an object into the form of its resource: names and types, unknown fields, defaults. @throws {RequestError} 400. */
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
  if (!resource.isCustom) {
    const problem = decodingProblem(value, { ...resource.schema, struct: kind });
    if (problem !== undefined) {
      throw unusable(kind, `: ${problem}`);
    }
    dropNulls(value, resource.schema, false);
  }
  const { object, malformed, unknown } = readCustomResource(value, resource.schema);
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

/** The problems of an object to store in the place of `old`. @throws {RequestError} when a rule cannot be evaluated. */
export function causesOf(resource: Resource, object: JsonObject, old: JsonObject | undefined): StatusCause[] {
  const { schema, strategy, isCustom } = resource;
  if (isCustom) {
    try {
      return customResourceCauses(object, old, schema);
    } catch (error) {
      throw error instanceof NotEvaluated ? internalError(error.message) : error;
    }
  }
  return [
    ...metadataCauses(metadataOf(object), old && metadataOf(old), strategy.nameFormat),
    ...validateSchema(object, schema),
    ...(strategy.validate?.(object, old) ?? []),
  ];
}

/** The options object for the review of a request; patches count as updates. */
export function optionsOf(kind: 'CreateOptions' | 'UpdateOptions', query: URLSearchParams): JsonObject {
  const fieldManager = query.get('fieldManager');
  const fieldValidation = query.get('fieldValidation');
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(query.has('dryRun') ? { dryRun: query.getAll('dryRun') } : {}),
    ...(fieldManager ? { fieldManager } : {}),
    ...(fieldValidation ? { fieldValidation } : {}),
  };
}

/** Whether the query of a write, or the body of a deletion, asks for a dry run. @throws {RequestError} 400. */
export function isDryRun(query: URLSearchParams, body: JsonObject = {}): boolean {
  const dryRun = [...query.getAll('dryRun'), ...itemsAt(body, 'dryRun')].filter((value) => value !== '');
  if (dryRun.some((value) => value !== 'All')) {
    throw badRequest('dryRun can only be "All"');
  }
  return dryRun.length > 0;
}
