import { type Json, type JsonObject, perObject } from '../../kubernetes/index.ts';
import type { HookDefinition } from '../catalog/definition.ts';
import { type MessageSchema, resolved } from '../catalog/schema.ts';
import { messageProblem, problemText } from './message-problems.ts';

const spellingsOf = perObject(
  (properties: Readonly<Record<string, MessageSchema>>): ReadonlyMap<string, string> =>
    new Map(Object.keys(properties).map((name) => [name.toLowerCase(), name])),
);

/** The properties of a map: always the same object, by which its spellings are remembered. */
const none: NonNullable<MessageSchema['properties']> = {};

/** The value with its known fields in their exact spelling, and without nulls where the schema specifies a type. */
function spelled(value: Json, schema: MessageSchema | undefined): Json {
  const known = resolved(schema);
  if (known === undefined || typeof value !== 'object' || value === null) {
    return value;
  }
  const { properties = none, additionalProperties, items } = known;
  if (Array.isArray(value)) {
    // For Go's decoder, a null in a list of objects is an object without fields.
    const isOfObjects = resolved(items)?.type === 'object';
    return value.map((item) => (item === null && isOfObjects ? {} : spelled(item, items)));
  }
  const fields: [string, Json][] = [];
  for (const name of Object.keys(value)) {
    const field = value[name] as Json;
    const exact = Object.hasOwn(properties, name) ? name : (spellingsOf(properties).get(name.toLowerCase()) ?? name);
    const fieldSchema = Object.hasOwn(properties, exact) ? properties[exact] : additionalProperties;
    if (field !== null || resolved(fieldSchema)?.type === undefined) {
      fields.push([exact, spelled(field, fieldSchema)]);
    }
  }
  return Object.fromEntries(fields);
}

/**
 * A request as a handler receives it, or what is wrong with it: field names match in any case, null counts as absent, and
 * unknown fields are kept. Types are checked, and the fields that the hook's own messages require.
 */
export function decodeRequest(hook: HookDefinition, value: Json): { request: JsonObject } | { problem: string } {
  // Messages from Cluster API need not be copied.
  if (messageProblem(hook, 'request', value) === undefined) {
    return { request: value as JsonObject };
  }
  const request = spelled(value, hook.request.schema);
  const problem = messageProblem(hook, 'request', request);
  return problem === undefined ? { request: request as JsonObject } : { problem: problemText(problem) };
}

/**
 * A response as Cluster API reads it (encoding/json in httpCall of client.go, v1.14): as a request, but null in a list of
 * objects is one without fields, and only types are checked.
 */
export function decodeResponse(hook: HookDefinition, value: Json): { response: JsonObject } | { problem: string } {
  if (value === null) {
    return { response: {} };
  }
  const response = spelled(value, hook.response.schema);
  const problem = messageProblem(hook, 'answer', response);
  return problem === undefined ? { response: response as JsonObject } : { problem: problemText(problem) };
}
