import type { HookDefinition, MessageSchema } from '../hooks/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../kubernetes/index.ts';
import { formatProblems, messageFits, messageProblems } from './checks.ts';
import { type Components, componentOf, componentsOf } from './components.ts';

const componentCache = new WeakMap<HookDefinition, Components>();

function componentsFor(hook: HookDefinition): Components {
  const known = componentCache.get(hook) ?? componentsOf([hook]);
  componentCache.set(hook, known);
  return known;
}

function resolved(schema: MessageSchema | undefined, components: Components): MessageSchema | undefined {
  const reference = schema?.$ref ?? schema?.allOf?.[0]?.$ref;
  return reference === undefined ? schema : components.get(componentOf(reference));
}

const spellings = new WeakMap<object, ReadonlyMap<string, string>>();

/** The names of fields by their names in lower case. */
function spellingsOf(properties: Readonly<Record<string, MessageSchema>>): ReadonlyMap<string, string> {
  const known = spellings.get(properties) ?? new Map(Object.keys(properties).map((name) => [name.toLowerCase(), name]));
  spellings.set(properties, known);
  return known;
}

/** The value with its known fields in their exact spelling, and without nulls where the schema specifies a type. */
function spelled(value: Json, schema: MessageSchema | undefined, components: Components): Json {
  const known = resolved(schema, components);
  if (known === undefined || typeof value !== 'object' || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    const { items } = known;
    // For Go's decoder, a null in a list of objects is an object without fields.
    const isOfObjects = resolved(items, components)?.type === 'object';
    return items === undefined
      ? value
      : value.map((item) => (item === null && isOfObjects ? {} : spelled(item, items, components)));
  }
  const { properties, additionalProperties } = known;
  if (properties === undefined && additionalProperties === undefined) {
    return value;
  }
  const byLowerCase = properties && spellingsOf(properties);
  const entries = Object.entries(value).flatMap(([name, field]): [string, Json][] => {
    const exact = byLowerCase?.get(name.toLowerCase()) ?? name;
    const fieldSchema =
      properties !== undefined && Object.hasOwn(properties, exact) ? properties[exact] : additionalProperties;
    if (field === null && resolved(fieldSchema, components)?.type !== undefined) {
      return [];
    }
    return [[exact, spelled(field, fieldSchema, components)]];
  });
  return Object.fromEntries(entries);
}

/** Whether `spelled` would change nothing, as with most messages, which need not be copied. */
function isSpelled(value: Json, schema: MessageSchema | undefined, components: Components): boolean {
  const known = resolved(schema, components);
  if (known === undefined || typeof value !== 'object' || value === null) {
    return true;
  }
  if (Array.isArray(value)) {
    const { items } = known;
    const isOfObjects = resolved(items, components)?.type === 'object';
    return (
      items === undefined || value.every((item) => (item === null ? !isOfObjects : isSpelled(item, items, components)))
    );
  }
  const { properties, additionalProperties } = known;
  // A value from JSON.parse has only own enumerable properties.
  for (const name in value) {
    const isKnown = properties !== undefined && Object.hasOwn(properties, name);
    if (!isKnown && properties !== undefined && spellingsOf(properties).has(name.toLowerCase())) {
      return false;
    }
    const field = value[name] as Json;
    const fieldSchema = isKnown ? properties[name] : additionalProperties;
    if (field === null && resolved(fieldSchema, components)?.type !== undefined) {
      return false;
    }
    if (!isSpelled(field, fieldSchema, components)) {
      return false;
    }
  }
  return true;
}

/**
 * A request as a handler receives it: field names match in any case, null counts as absent, and unknown fields are
 * kept. Types are checked, and the fields that the hook's own messages require. Returns the same value if nothing had
 * to be changed.
 *
 * @returns the request, or what is wrong with it, in one line.
 */
export function decodeRequest(hook: HookDefinition, value: Json): { request: JsonObject } | { problem: string } {
  // Messages from Cluster API need not be copied.
  if (isJsonObject(value) && messageFits(hook, 'request', value, 'received')) {
    return { request: value };
  }
  const request = spelled(value, hook.request.schema, componentsFor(hook));
  const problems = messageProblems(hook, 'request', request, 'received');
  return problems.length > 0 || !isJsonObject(request) ? { problem: formatProblems(problems) } : { request };
}

/**
 * A response as Cluster API's decoder reads it: field names match in any case, null counts as absent (in a list of
 * objects: as an object without fields), unknown fields are ignored, and only types are checked.
 *
 * @returns the response, or what is wrong with it, in one line.
 */
export function decodeResponse(hook: HookDefinition, value: Json): { response: JsonObject } | { problem: string } {
  if (value === null) {
    return { response: {} };
  }
  const { schema } = hook.response;
  const components = componentsFor(hook);
  const response = isSpelled(value, schema, components) ? value : spelled(value, schema, components);
  const problems = messageProblems(hook, 'response', response, 'tolerant');
  return problems.length > 0 || !isJsonObject(response) ? { problem: formatProblems(problems) } : { response };
}
