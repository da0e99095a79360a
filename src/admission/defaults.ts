import { isJsonObject, type Json, type JsonObject, type JsonPatchOperation, jsonPointer } from '../kubernetes/index.ts';
import type { Subject } from '../rules/index.ts';

/** Port of a Service that names none. */
const defaultPort = 443;
/** What Cluster API takes for a handler that does not say it. */
const handlerDefaults: JsonObject = { timeoutSeconds: 10, failurePolicy: 'Fail' };

const isAbsent = (value: Json | undefined): boolean => value === undefined || value === null;

/** Whether a service has any value; an empty one counts as none (as for Cluster API, which would not default it). */
function hasValue(service: JsonObject): boolean {
  return ['namespace', 'name', 'path'].some((key) => !isAbsent(service[key]) && service[key] !== '');
}

function* objectDefaults(object: JsonObject): Generator<JsonPatchOperation> {
  const spec = object.spec;
  if (isAbsent(spec)) {
    yield { op: 'add', path: '/spec', value: { namespaceSelector: {} } };
  }
  // A field of the wrong type is left as it stands: whoever wrote it shall see it in the answer.
  if (!isJsonObject(spec)) {
    return;
  }
  const clientConfig = spec.clientConfig;
  const service = isJsonObject(clientConfig) ? clientConfig.service : undefined;
  if (isJsonObject(service) && isAbsent(service.port) && hasValue(service)) {
    yield { op: 'add', path: '/spec/clientConfig/service/port', value: defaultPort };
  }
  if (isAbsent(spec.namespaceSelector)) {
    yield { op: 'add', path: '/spec/namespaceSelector', value: {} };
  }
}

function* statusDefaults(object: JsonObject): Generator<JsonPatchOperation> {
  const handlers = isJsonObject(object.status) ? object.status.handlers : undefined;
  if (!Array.isArray(handlers)) {
    return;
  }
  for (const [index, handler] of handlers.entries()) {
    if (!isJsonObject(handler)) {
      continue;
    }
    for (const [key, value] of Object.entries(handlerDefaults)) {
      if (isAbsent(handler[key])) {
        yield { op: 'add', path: jsonPointer(['status', 'handlers', index, key]), value };
      }
    }
  }
}

/**
 * The defaults that an object lacks, as a JSON Patch: empty when there are none. The object's own are those of Cluster
 * API's webhook; those of the status are what Cluster API takes for a handler that is silent.
 */
export function defaultsOf(object: JsonObject, subject: Subject): JsonPatchOperation[] {
  return [...(subject === 'status' ? statusDefaults(object) : objectDefaults(object))];
}

/** A copy of the object with the defaults it lacks: what the API server has after applying `defaultsOf`. */
export function withDefaults(object: JsonObject, subject: Subject): JsonObject {
  const patch = defaultsOf(object, subject);
  if (patch.length === 0) {
    return object;
  }
  const copy = structuredClone(object);
  for (const operation of patch) {
    // The paths are our own: plain names and indices, and only `add` of a member.
    const path = operation.path.split('/').slice(1);
    const last = path.pop() as string;
    const parent = path.reduce<Json>((at, key) => (at as JsonObject)[key] as Json, copy) as JsonObject;
    parent[last] = structuredClone((operation as { value: Json }).value);
  }
  return copy;
}
