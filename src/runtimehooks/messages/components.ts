import { perObject } from '../../kubernetes/index.ts';
import type { HookDefinition } from '../catalog/definition.ts';
import { hookComponents } from '../catalog/parts.ts';
import { componentPrefix, type MessageSchema } from '../catalog/schema.ts';
import coreSchemas from './core-schemas.json' with { type: 'json' };
import { examples } from './examples.ts';

/** Schemas by component name. */
export type Components = ReadonlyMap<string, MessageSchema>;

/**
 * The components of Kubernetes and of Cluster API's core types (v1beta2), with their examples: the fields in the OpenAPI
 * document that Cluster API publishes, the descriptions of tools/generate/core-descriptions.ts.
 */
export const shared: Components = new Map(
  Object.entries(coreSchemas as Readonly<Record<string, MessageSchema>>).map(([name, schema]) => {
    const example = examples[name];
    return [name, example === undefined ? schema : { ...schema, example }];
  }),
);

/** The component that a `$ref` names. */
export function componentOf(reference: string): string {
  return reference.slice(componentPrefix.length);
}

/** A schema itself, or the component that it refers to. */
export function resolved(schema: MessageSchema | undefined, components: Components): MessageSchema | undefined {
  const reference = schema?.$ref ?? schema?.allOf?.[0]?.$ref;
  return reference === undefined ? schema : components.get(componentOf(reference));
}

/** The components that a schema refers to; many hooks share theirs. */
const referencesIn = perObject((schema: MessageSchema): readonly string[] => {
  const names: string[] = [];
  addReferences(schema, names);
  return names;
});

function addReferences(schema: MessageSchema, names: string[]): void {
  if (schema.$ref !== undefined) {
    names.push(componentOf(schema.$ref));
  }
  const { properties = {}, additionalProperties, items, allOf = [], oneOf = [] } = schema;
  for (const part of [...Object.values(properties), ...allOf, ...oneOf, additionalProperties, items]) {
    if (part !== undefined) {
      addReferences(part, names);
    }
  }
}

/**
 * Exactly the components that the messages of hooks need.
 *
 * @throws {Error} when a schema refers to an unknown component.
 */
export function componentsOf(hooks: readonly HookDefinition[]): Components {
  const messages = new Map(
    hooks.flatMap(({ request, response }) => [request, response]).map(({ component, schema }) => [component, schema]),
  );
  const used = new Map<string, MessageSchema>();
  const pending = [...messages.keys()];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (used.has(name)) {
      continue;
    }
    const schema = messages.get(name) ?? hookComponents.get(name) ?? shared.get(name);
    if (schema === undefined) {
      throw new Error(`no schema has the name ${name}`);
    }
    used.set(name, schema);
    pending.push(...referencesIn(schema));
  }
  return new Map([...used].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The components that the messages of a hook need, looked up once. */
export const componentsFor: (hook: HookDefinition) => Components = perObject((hook) => componentsOf([hook]));
