import { isJsonObject, type JsonObject, objectAt, objectsAt, textAt } from '../../kubernetes/index.ts';
import type { CoreVersion, HookDefinition } from '../catalog/definition.ts';
import type { MessageSchema } from '../catalog/schema.ts';
import { resolved } from './components.ts';

/** Depth in a sample beyond which a schema that refers to itself is not expanded. */
const maxDepth = 12;

function sampleOf(schema: MessageSchema, depth: number): unknown {
  if (schema.example !== undefined) {
    return structuredClone(schema.example);
  }
  const named = resolved(schema);
  if (named !== undefined && named !== schema) {
    return depth === 0 ? {} : sampleOf(named, depth - 1);
  }
  if (schema.enum !== undefined) {
    return schema.enum[0];
  }
  switch (schema.type) {
    case 'array':
      return depth === 0 || schema.items === undefined ? [] : [sampleOf(schema.items, depth - 1)];
    case 'boolean':
      return false;
    case 'integer':
      return 0;
    case 'object': {
      const fields = depth === 0 ? [] : Object.entries(schema.properties ?? {});
      return Object.fromEntries(fields.map(([name, field]) => [name, sampleOf(field, depth - 1)]));
    }
    default:
      return '';
  }
}

/** Makes the Cluster of a message, and the references to one, those of v1beta1. */
function asV1beta1({ cluster, items }: JsonObject): void {
  const spec = objectAt(cluster, 'spec');
  if (isJsonObject(cluster) && isJsonObject(spec.topology)) {
    const { classRef, ...topology } = spec.topology;
    cluster.apiVersion = 'cluster.x-k8s.io/v1beta1';
    spec.topology = { class: textAt(classRef, 'name'), ...topology };
  }
  for (const { holderReference } of objectsAt(items)) {
    if (isJsonObject(holderReference)) {
      holderReference.apiVersion = 'cluster.x-k8s.io/v1beta1';
    }
  }
}

/** A sample message with every field set, from the examples in the schemas. */
function sampleMessage(hook: HookDefinition, message: 'request' | 'response', core: CoreVersion): JsonObject {
  const { schema, kind } = hook[message];
  const { apiVersion: _a, kind: _k, ...fields } = sampleOf(schema, maxDepth) as JsonObject;
  if (core === 'v1beta1') {
    asV1beta1(fields);
  }
  return { apiVersion: `${hook.group}/${hook.version}`, kind, ...fields };
}

/**
 * A valid sample request of a hook.
 *
 * @param core version of the Cluster API objects in it; the schemas are those of v1beta2.
 */
export function sampleRequest(hook: HookDefinition, core: CoreVersion = 'v1beta2'): JsonObject {
  return sampleMessage(hook, 'request', core);
}

/** A valid sample response of a hook, with status Success. */
export function sampleResponse(hook: HookDefinition, core: CoreVersion = 'v1beta2'): JsonObject {
  return { ...sampleMessage(hook, 'response', core), status: 'Success' };
}
