import {
  applyOperations,
  copyOf,
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonPatchOperation,
  jsonPointer,
} from '../../kubernetes/index.ts';
import { dropNullFields } from '../../kubernetes/schema/index.ts';
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

const isAbsent = (value: Json | undefined): boolean => value === undefined || value === null;

/** Whether a service has any value: like Cluster API, an empty service is treated as absent and gets no defaults. */
function hasValue(service: JsonObject): boolean {
  return ['namespace', 'name', 'path'].some((key) => !isAbsent(service[key]) && service[key] !== '');
}

function objectDefaults(object: JsonObject): Addition[] {
  const { spec } = object;
  if (isAbsent(spec)) {
    return [{ op: 'add', path: '/spec', value: { namespaceSelector: {} } }];
  }
  // A field of the wrong type is left unchanged, so that the denial shows it as it was written.
  if (!isJsonObject(spec)) {
    return [];
  }
  const { clientConfig } = spec;
  const service = isJsonObject(clientConfig) ? clientConfig.service : undefined;
  const patch: Addition[] = [];
  if (isJsonObject(service) && isAbsent(service.port) && hasValue(service)) {
    patch.push({ op: 'add', path: '/spec/clientConfig/service/port', value: defaultServicePort });
  }
  if (isAbsent(spec.namespaceSelector)) {
    patch.push({ op: 'add', path: '/spec/namespaceSelector', value: {} });
  }
  return patch;
}

function statusDefaults(object: JsonObject): Addition[] {
  const handlers = isJsonObject(object.status) ? object.status.handlers : undefined;
  // The API server rejects a status with more handlers anyway, so a patch for them would only be long.
  if (!Array.isArray(handlers) || handlers.length > maxHandlers) {
    return [];
  }
  const patch: Addition[] = [];
  for (const [index, handler] of handlers.entries()) {
    if (!isJsonObject(handler)) {
      continue;
    }
    for (const [key, value] of handlerDefaults) {
      if (isAbsent(handler[key])) {
        patch.push({ op: 'add', path: jsonPointer(['status', 'handlers', index, key]), value });
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
export function defaultsOf(object: JsonObject, part: Part): readonly Addition[] {
  return part === 'status' ? statusDefaults(object) : objectDefaults(object);
}

/** The object with the defaults that it lacks, as after applying the patch of `defaultsOf`; the original if it lacks none. */
export function withDefaults(object: JsonObject, part: Part): JsonObject {
  const patch = defaultsOf(object, part);
  return patch.length === 0 ? object : (applyOperations(object, patch) as JsonObject);
}

/** The object with all defaults that it lacks and without null fields, as the API server stores it. */
export function withAllDefaults(object: JsonObject): JsonObject {
  const stored = copyOf(object);
  dropNullFields(stored, ownSchemaOf(versionOf(object.apiVersion) ?? hubVersion));
  return withDefaults(withDefaults(stored, 'object'), 'status');
}
