import {
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonPatchOperation,
  jsonPointer,
} from '../../kubernetes/index.ts';
import { openApiSchemaOf } from './crd.ts';
import { hubVersion } from './names.ts';

/** Port of a Service if none is set. */
export const defaultServicePort = 443;
/** The values that Cluster API assumes for a handler that does not set these fields. */
const handlerDefaults: readonly (readonly [string, Json])[] = [
  ['timeoutSeconds', 10],
  ['failurePolicy', 'Fail'],
];
/** Maximum number of handlers that the CustomResourceDefinition allows. */
const maxHandlers = openApiSchemaOf(hubVersion).properties?.status?.properties?.handlers?.maxItems ?? 0;

const none: JsonPatchOperation[] = [];

const isAbsent = (value: Json | undefined): boolean => value === undefined || value === null;

/** Whether a service has any value: like Cluster API, an empty service is treated as absent and gets no defaults. */
function hasValue(service: JsonObject): boolean {
  return ['namespace', 'name', 'path'].some((key) => !isAbsent(service[key]) && service[key] !== '');
}

function objectDefaults(object: JsonObject): JsonPatchOperation[] {
  const { spec } = object;
  if (isAbsent(spec)) {
    return [{ op: 'add', path: '/spec', value: { namespaceSelector: {} } }];
  }
  // A field of the wrong type is left unchanged, so that the denial shows it as it was written.
  if (!isJsonObject(spec)) {
    return none;
  }
  const { clientConfig } = spec;
  const service = isJsonObject(clientConfig) ? clientConfig.service : undefined;
  const lacksPort = isJsonObject(service) && isAbsent(service.port) && hasValue(service);
  const lacksSelector = isAbsent(spec.namespaceSelector);
  if (!lacksPort && !lacksSelector) {
    return none;
  }
  const patch: JsonPatchOperation[] = [];
  if (lacksPort) {
    patch.push({ op: 'add', path: '/spec/clientConfig/service/port', value: defaultServicePort });
  }
  if (lacksSelector) {
    patch.push({ op: 'add', path: '/spec/namespaceSelector', value: {} });
  }
  return patch;
}

function statusDefaults(object: JsonObject): JsonPatchOperation[] {
  const handlers = isJsonObject(object.status) ? object.status.handlers : undefined;
  // The API server rejects a status with more handlers anyway, so a patch for them would only be long.
  if (!Array.isArray(handlers) || handlers.length > maxHandlers) {
    return none;
  }
  const patch: JsonPatchOperation[] = [];
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

/** What a write sets: the object itself, or its status subresource. */
type Part = 'object' | 'status';

/**
 * The defaults that an object lacks, as a JSON Patch, which may be empty. Those for the spec are the defaults of
 * Cluster API's webhook; those for the status are what Cluster API assumes for a handler. There are at most two
 * operations for each handler that the CustomResourceDefinition allows.
 */
export function defaultsOf(object: JsonObject, part: Part): readonly JsonPatchOperation[] {
  return part === 'status' ? statusDefaults(object) : objectDefaults(object);
}

/**
 * The object with the defaults that it lacks, as after applying the patch of `defaultsOf`. It shares unchanged parts
 * with the original, and is the original if nothing changed.
 */
export function withDefaults(object: JsonObject, part: Part): JsonObject {
  const copies = new Set<Json>();
  /** A copy of a container that may be modified in place; each container is copied once. */
  const draft = (container: Json): JsonObject => {
    if (copies.has(container)) {
      return container as JsonObject;
    }
    const copy = Array.isArray(container) ? [...container] : { ...(container as JsonObject) };
    copies.add(copy);
    return copy as JsonObject;
  };
  let made = object;
  for (const operation of defaultsOf(object, part)) {
    // The patch is our own: its paths consist of plain names and indices, and its operations only add members.
    const path = operation.path.split('/').slice(1);
    const last = path.pop() as string;
    made = draft(made);
    let parent = made;
    for (const key of path) {
      const child = draft(parent[key] as Json);
      parent[key] = child;
      parent = child;
    }
    parent[last] = (operation as { value: Json }).value;
  }
  return made;
}

/** The object with all defaults that it lacks: as the API server stores it after a write of it, and one of its status. */
export function withAllDefaults(object: JsonObject): JsonObject {
  return withDefaults(withDefaults(object, 'object'), 'status');
}
