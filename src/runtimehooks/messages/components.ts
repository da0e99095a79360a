import type { HookDefinition } from '../catalog/definition.ts';
import { componentPrefix, components, type MessageSchema } from '../catalog/schema.ts';

/** The component that a `$ref` names. */
export function componentOf(reference: string): string {
  return reference.slice(componentPrefix.length);
}

/** A schema itself, or the component that it refers to. */
export function resolved(schema: MessageSchema | undefined): MessageSchema | undefined {
  const reference = schema?.$ref ?? schema?.allOf?.[0]?.$ref;
  return reference === undefined ? schema : components.get(componentOf(reference));
}

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
    const schema = messages.get(name) ?? components.get(name);
    if (schema === undefined) {
      throw new Error(`no schema has the name ${name}`);
    }
    used.set(name, schema);
    pending.push(...referencesIn(schema));
  }
  return new Map([...used].sort(([a], [b]) => (a < b ? -1 : 1)));
}
