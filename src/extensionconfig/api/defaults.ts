import {
  applyOperations,
  copyOf,
  isJsonObject,
  itemsAt,
  type Json,
  type JsonObject,
  type JsonPatchOperation,
  objectAt,
} from '../../kubernetes/index.ts';
import { dropNulls } from '../../kubernetes/schema/index.ts';
import { openApiSchemaOf, ownSchemaOf } from './crd.ts';
import { hubVersion, versionOf } from './names.ts';

export const defaultServicePort = 443;
/** The values that Cluster API assumes for a handler that does not set these fields. */
const handlerDefaults: readonly (readonly [string, Json])[] = [
  ['timeoutSeconds', 10],
  ['failurePolicy', 'Fail'],
];
const maxHandlers = openApiSchemaOf(hubVersion).properties?.status?.properties?.handlers?.maxItems ?? 0;

type Addition = JsonPatchOperation & { op: 'add' };

const add = (path: string, value: Json): Addition => ({ op: 'add', path, value });
const isAbsent = (value: Json | undefined): boolean => value === undefined || value === null;

function objectDefaults({ spec }: JsonObject): Addition[] {
  if (isAbsent(spec)) {
    return [add('/spec', { namespaceSelector: {} })];
  }
  // A field of the wrong type is left unchanged, so that the denial shows it as it was written.
  if (!isJsonObject(spec)) {
    return [];
  }
  const service = objectAt(spec, 'clientConfig', 'service');
  // Like Cluster API, an empty service is treated as absent.
  const hasValue = ['namespace', 'name', 'path'].some((key) => !isAbsent(service[key]) && service[key] !== '');
  return [
    ...(isAbsent(service.port) && hasValue ? [add('/spec/clientConfig/service/port', defaultServicePort)] : []),
    ...(isAbsent(spec.namespaceSelector) ? [add('/spec/namespaceSelector', {})] : []),
  ];
}

function statusDefaults(object: JsonObject): Addition[] {
  const handlers = itemsAt(object, 'status', 'handlers');
  // The API server rejects a status with more handlers anyway, so a patch for them would only be long.
  const patch: Addition[] = [];
  for (const [index, handler] of handlers.length > maxHandlers ? [] : handlers.entries()) {
    for (const [key, value] of isJsonObject(handler) ? handlerDefaults : []) {
      if (isAbsent((handler as JsonObject)[key])) {
        patch.push(add(`/status/handlers/${index}/${key}`, value));
      }
    }
  }
  return patch;
}

type Part = 'object' | 'status';

/**
 * The defaults that an object lacks, as a JSON Patch, which may be empty: for the spec those of Cluster API's webhook, for the
 * status what Cluster API assumes for a handler.
 */
export const defaultsOf = (object: JsonObject, part: Part): readonly Addition[] =>
  part === 'status' ? statusDefaults(object) : objectDefaults(object);

/** The object with the defaults that it lacks, as after applying the patch of `defaultsOf`; the original if it lacks none. */
export function withDefaults(object: JsonObject, part: Part): JsonObject {
  const patch = defaultsOf(object, part);
  return patch.length === 0 ? object : (applyOperations(object, patch) as JsonObject);
}

/** The object with all defaults that it lacks and without null fields, as the API server stores it. */
export function withAllDefaults(object: JsonObject): JsonObject {
  const stored = copyOf(object);
  dropNulls(stored, ownSchemaOf(versionOf(object.apiVersion) ?? hubVersion), true);
  return withDefaults(withDefaults(stored, 'object'), 'status');
}
