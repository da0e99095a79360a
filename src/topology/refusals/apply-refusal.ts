import { isJsonObject, type Json, type JsonObject, nameOf, namespaceOf, textAt } from '../../kubernetes/index.ts';
import type { Schema, SchemaOf } from '../../kubernetes/schema/index.ts';
import { ownKindRefusal } from './own-kinds.ts';
import type { Refusal } from './refusal.ts';
import { schemaRefusal, webhookRefusal } from './schema-refusal.ts';

/** A value as Go prints a pointer to it in errors of server-side apply. */
function shown(value: Json): string {
  const printed = (part: Json): string =>
    part === null
      ? '<nil>'
      : Array.isArray(part)
        ? `[${part.map(printed).join(' ')}]`
        : isJsonObject(part)
          ? `map[${Object.keys(part)
              .sort()
              .map((key) => `${key}:${printed(part[key] as Json)}`)
              .join(' ')}]`
          : String(part);
  return `&{${printed(value).slice(0, maxShown)}}`;
}

const maxShown = 200;

const goTypes = { string: 'string', boolean: 'bool', number: 'float64' } as const;
const goType = (value: Json): string =>
  goTypes[typeof value as keyof typeof goTypes] ??
  (Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}');

/** The identity of the first item that a set or a map has twice, as structured-merge-diff writes it. */
function duplicateIn(items: readonly Json[], schema: Schema): string | undefined {
  const type = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys']?.toSorted() ?? [];
  const identityOf = (item: Json): string =>
    type === 'set'
      ? `[=${JSON.stringify(item)}]`
      : `[${keys.flatMap((key) => (isJsonObject(item) && item[key] !== undefined ? [`${key}=${JSON.stringify(item[key])}`] : [])).join(',')}]`;
  const seen = new Set<string>();
  for (const item of type === 'set' || type === 'map' ? items : []) {
    const identity = identityOf(item);
    if (seen.has(identity)) {
      return identity;
    }
    seen.add(identity);
  }
  return undefined;
}

/** The first value that is not of the type that a schema wants, or that it does not name. Null is of every type. */
function problemIn(value: Json, schema: Schema, path: string): string | undefined {
  if (value === null) {
    return undefined;
  }
  switch (schema.type) {
    case 'array': {
      if (!Array.isArray(value)) {
        return `${path}: expected list, got ${shown(value)}`;
      }
      const { items } = schema;
      const twice = duplicateIn(value, schema);
      if (twice !== undefined) {
        return `${path}: duplicate entries for key ${twice}`;
      }
      for (const [index, item] of items === undefined ? [] : value.entries()) {
        const problem = problemIn(item, items as Schema, `${path}[${index}]`);
        if (problem !== undefined) {
          return problem;
        }
      }
      return undefined;
    }
    case 'object': {
      if (!isJsonObject(value)) {
        return `${path}: expected map, got ${shown(value)}`;
      }
      const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
      const others = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
      for (const [name, field] of Object.entries(value)) {
        const inner = schema.properties?.[name] ?? others;
        if (inner === undefined && !isOpen && schema.additionalProperties !== true) {
          return `${path}.${name}: field not declared in schema`;
        }
        const problem = inner && problemIn(field, inner, `${path}.${name}`);
        if (problem !== undefined) {
          return problem;
        }
      }
      return undefined;
    }
    case 'string':
      return typeof value === 'string'
        ? undefined
        : `${path}: expected string, got &value.valueUnstructured{Value:${JSON.stringify(value)}}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `${path}: expected boolean, got ${goType(value)}`;
    case 'integer':
    case 'number':
      return typeof value === 'number' ? undefined : `${path}: expected numeric (int or float), got ${goType(value)}`;
    default:
      return undefined;
  }
}

/** Why structured-merge-diff cannot read the spec of an object that is applied, in its words. */
function typeProblem(intent: JsonObject, schema: Schema): string | undefined {
  const { spec } = schema.properties ?? {};
  const problem = spec === undefined ? undefined : problemIn(intent.spec ?? {}, spec, '.spec');
  return problem === undefined
    ? undefined
    : `failed to create typed patch object (${namespaceOf(intent)}/${nameOf(intent)}; ${textAt(intent, 'apiVersion')}, Kind=${textAt(intent, 'kind')}): ${problem}`;
}

/**
 * Why an API server does not take what a controller applies (server-side apply), in its words; undefined if it does, or if
 * there is no schema of the kind.
 *
 * @param intent what the controller applies.
 * @param result what that makes of the object.
 * @param current the object that exists; undefined if it is created.
 * @throws {NotKnown} when its defaults exceed 8 MiB.
 */
export function applyRefusal(
  intent: JsonObject,
  result: JsonObject,
  current: JsonObject | undefined,
  schemaOf: SchemaOf,
): Refusal | undefined {
  const schema = schemaOf(intent);
  const problem = schema && typeProblem(intent, schema);
  return problem === undefined
    ? (webhookRefusal(result, schemaOf) ?? schemaRefusal(result, current, schemaOf) ?? ownKindRefusal(result, current))
    : { code: 500, reason: '', message: problem, causes: [] };
}
