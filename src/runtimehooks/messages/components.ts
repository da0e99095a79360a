import type { HookDefinition } from '../catalog/definition.ts';
import { hookComponents } from '../catalog/parts.ts';
import { componentPrefix, type MessageSchema } from '../catalog/schema.ts';
import coreSchemas from './core-schemas.generated.json' with { type: 'json' };
import { examples } from './examples.ts';

/**
 * The components of Kubernetes and of Cluster API's core types (v1beta2), with their examples: the fields in the OpenAPI
 * document that Cluster API publishes, the descriptions of tools/generate/core-descriptions.ts.
 */
export const shared: ReadonlyMap<string, MessageSchema> = new Map(
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
export function resolved(schema: MessageSchema | undefined): MessageSchema | undefined {
  const reference = schema?.$ref ?? schema?.allOf?.[0]?.$ref;
  return reference === undefined ? schema : componentWith(componentOf(reference));
}

const componentWith = (name: string) => hookComponents.get(name) ?? shared.get(name);

/** The components that a schema refers to. */
function referencesIn(schema: MessageSchema): string[] {
  const { $ref, properties = {}, additionalProperties, items, allOf = [], oneOf = [] } = schema;
  const parts = [...Object.values(properties), ...allOf, ...oneOf, additionalProperties, items];
  return [
    ...($ref === undefined ? [] : [componentOf($ref)]),
    ...parts.flatMap((part) => (part === undefined ? [] : referencesIn(part))),
  ];
}

/**
 * Exactly the components that the messages of hooks need.
 *
 * @throws {Error} when a schema refers to an unknown component.
 */
export function componentsOf(hooks: readonly HookDefinition[]): ReadonlyMap<string, MessageSchema> {
  const messages = new Map(
    hooks.flatMap(({ request, response }) => [request, response]).map(({ component, schema }) => [component, schema]),
  );
  const used = new Map<string, MessageSchema>();
  const pending = [...messages.keys()];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (used.has(name)) {
      continue;
    }
    const schema = messages.get(name) ?? componentWith(name);
    if (schema === undefined) {
      throw new Error(`no schema has the name ${name}`);
    }
    used.set(name, schema);
    pending.push(...referencesIn(schema));
  }
  return new Map([...used].sort(([a], [b]) => (a < b ? -1 : 1)));
}
