import type { JsonObject } from '../../kubernetes/index.ts';
import type { CoreVersion, HookDefinition } from '../catalog/definition.ts';
import type { MessageSchema } from '../catalog/schema.ts';
import { componentOf, resolved } from './components.ts';
import { examplesIn } from './examples.ts';

/** Depth in a sample beyond which a schema that refers to itself is not expanded. */
const maxDepth = 12;

/** Examples by component. */
type Examples = Readonly<Record<string, unknown>>;

function sampleOf(schema: MessageSchema, examples: Examples, depth: number): unknown {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  const example = schema.example ?? (reference && examples[componentOf(reference)]);
  if (example !== undefined) {
    return structuredClone(example);
  }
  if (reference !== undefined) {
    return depth === 0 ? {} : sampleOf(resolved(schema) ?? {}, examples, depth - 1);
  }
  if (schema.enum !== undefined) {
    return schema.enum[0];
  }
  switch (schema.type) {
    case 'array':
      return depth === 0 || schema.items === undefined ? [] : [sampleOf(schema.items, examples, depth - 1)];
    case 'boolean':
      return false;
    case 'integer':
      return 0;
    case 'object': {
      const fields = depth === 0 ? [] : Object.entries(schema.properties ?? {});
      return Object.fromEntries(fields.map(([name, field]) => [name, sampleOf(field, examples, depth - 1)]));
    }
    default:
      return '';
  }
}

/** A sample message with every field set, from the examples in the schemas. */
function sampleMessage(hook: HookDefinition, message: 'request' | 'response', core: CoreVersion): JsonObject {
  const { schema, kind } = hook[message];
  const { apiVersion: _a, kind: _k, ...fields } = sampleOf(schema, examplesIn[core], maxDepth) as JsonObject;
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
