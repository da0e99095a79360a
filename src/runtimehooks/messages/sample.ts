import { isJsonObject, type JsonObject, objectAt, objectsAt, textAt } from '../../kubernetes/index.ts';
import type { CoreVersion, HookDefinition } from '../catalog/definition.ts';
import { type MessageSchema, resolved } from '../catalog/schema.ts';

/** A value with every field set. Types that refer to themselves have examples, and so has every field but texts. */
function sampleOf(schema: MessageSchema): unknown {
  const { example, items, properties } = schema;
  if (example !== undefined) {
    return structuredClone(example);
  }
  const named = resolved(schema);
  if (named !== undefined && named !== schema) {
    return sampleOf(named);
  }
  if (items !== undefined) {
    return [sampleOf(items)];
  }
  return properties === undefined
    ? ''
    : Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, sampleOf(field)]));
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

function sampleMessage(hook: HookDefinition, message: 'request' | 'response', core: CoreVersion): JsonObject {
  const { schema, kind } = hook[message];
  const { apiVersion: _a, kind: _k, ...fields } = sampleOf(schema) as JsonObject;
  if (core === 'v1beta1') {
    asV1beta1(fields);
  }
  return { apiVersion: `${hook.group}/${hook.version}`, kind, ...fields };
}

/** A valid sample request of a hook, from the examples in the schemas. @param core version of Cluster API's objects in it. */
export function sampleRequest(hook: HookDefinition, core: CoreVersion = 'v1beta2'): JsonObject {
  return sampleMessage(hook, 'request', core);
}

/** A valid sample response of a hook, with status Success. */
export function sampleResponse(hook: HookDefinition, core: CoreVersion = 'v1beta2'): JsonObject {
  return { ...sampleMessage(hook, 'response', core), status: 'Success' };
}
