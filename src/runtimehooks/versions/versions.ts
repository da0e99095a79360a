import { isJsonObject, type Json, type JsonObject, own } from '../../kubernetes/index.ts';
import type { Schema } from '../../kubernetes/schema/index.ts';
import { formatHook, type HookDefinition } from '../catalog/definition.ts';
import type { MessageSchema } from '../catalog/schema.ts';
import { type Components, componentOf, componentsOf } from '../messages/index.ts';
import type { ChangeTable } from './change-table.ts';
import { type ConversionStep, createConverter } from './engine.ts';

/**
 * What changed in a message from one version of a hook to the next, beyond what the schemas show, with hand-written
 * conversion steps. Requests are converted to older versions, responses to newer ones; the opposite directions need no
 * steps.
 */
interface MessageChange extends ChangeTable {
  toNewer?: ConversionStep | undefined;
  toOlder?: ConversionStep | undefined;
}

/** Two adjacent versions of a hook. */
export interface HookVersionChange {
  older: HookDefinition;
  newer: HookDefinition;
  request?: MessageChange | undefined;
  response?: MessageChange | undefined;
}

/** The versions of one hook, between which messages are converted. */
export interface HookVersions {
  group: string;
  name: string;
  versions: readonly HookDefinition[];
  /**
   * The request in the version of a handler: what that version cannot represent is dropped (rule 2 of the Runtime SDK).
   */
  requestFor(version: string, request: JsonObject): JsonObject;
  /** The response in the version of the caller: new fields get the defaults in their schemas. */
  responseFor(version: string, response: JsonObject): JsonObject;
}

/** A schema with references resolved. Where it refers to itself, anything is allowed. */
function inlined(schema: MessageSchema, components: Components, within: ReadonlySet<string>): Schema {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (reference !== undefined) {
    const name = componentOf(reference);
    return within.has(name) ? {} : inlined(components.get(name) ?? {}, components, new Set([...within, name]));
  }
  const inner = (part: MessageSchema) => inlined(part, components, within);
  const { properties, additionalProperties, items, oneOf, allOf: _, ...rest } = schema;
  return {
    ...(rest as Schema),
    ...(oneOf === undefined ? {} : { 'x-kubernetes-int-or-string': true }),
    ...(items === undefined ? {} : { items: inner(items) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: inner(additionalProperties) }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, inner(field)])) }),
  };
}

/** The value with the defaults of fields that it lacks. */
function withDefaults(value: Json, schema: Schema | undefined): Json {
  if (Array.isArray(value)) {
    return schema?.items === undefined ? value : value.map((item) => withDefaults(item, schema.items));
  }
  if (!isJsonObject(value) || schema?.properties === undefined) {
    return value;
  }
  const result = { ...value };
  for (const [name, field] of Object.entries(schema.properties)) {
    const present = own(value, name);
    if (present !== undefined) {
      result[name] = withDefaults(present, field);
    } else if (field.default !== undefined) {
      result[name] = structuredClone(field.default) as Json;
    }
  }
  return result;
}

const apiVersionOf = ({ group, version }: HookDefinition) => `${group}/${version}`;

/**
 * Compiles the conversion of a hook's messages between its versions, one change after the other.
 *
 * @throws {UnlistedDifferenceError} when two versions differ in a way that their change does not list.
 * @throws {Error} when the versions belong to different hooks, or the changes do not form a tree.
 */
export function defineHookVersions(changes: readonly HookVersionChange[]): HookVersions {
  const versions = [...new Set(changes.flatMap(({ older, newer }) => [older, newer]))];
  const [first] = versions;
  const stranger = versions.find(({ group, name }) => group !== first?.group || name !== first.name);
  if (first === undefined || stranger !== undefined) {
    throw new Error(
      first === undefined || stranger === undefined
        ? 'a hook with versions needs at least one change'
        : `${formatHook(stranger)} is not a version of ${formatHook(first)}`,
    );
  }
  const schemas = (message: 'request' | 'response') =>
    versions.map((hook) => ({
      apiVersion: apiVersionOf(hook),
      schema: inlined(hook[message].schema, componentsOf([hook]), new Set()),
    }));
  const converter = (message: 'request' | 'response') => {
    const inlinedSchemas = schemas(message);
    const schemaOf = new Map(inlinedSchemas.map(({ apiVersion, schema }) => [apiVersion, schema]));
    return createConverter({
      kind: first[message].kind,
      versions: inlinedSchemas,
      changes: changes.map((change) => {
        const [older, newer] = [apiVersionOf(change.older), apiVersionOf(change.newer)];
        const { toNewer = (converted: JsonObject) => converted, ...more } = change[message] ?? {};
        const defaulted: ConversionStep = (converted, original) =>
          withDefaults(toNewer(converted, original), schemaOf.get(newer)) as JsonObject;
        return { ...more, older, newer, toNewer: message === 'response' ? defaulted : toNewer };
      }),
    });
  };
  const converters = { request: converter('request'), response: converter('response') };
  return {
    group: first.group,
    name: first.name,
    versions,
    requestFor: (version, request) => converters.request(request, `${first.group}/${version}`),
    responseFor: (version, response) => converters.response(response, `${first.group}/${version}`),
  };
}
