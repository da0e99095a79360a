import { isJsonObject, type Json, type JsonObject, textAt } from '../../kubernetes/index.ts';
import type { Schema } from '../../kubernetes/schema/index.ts';
import { nameOf, namespaceOf } from './objects.ts';

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

/** Why the API server does not take an object that is applied, in its words; only its spec is looked at. */
export function typeProblem(object: JsonObject, schema: Schema | undefined): string | undefined {
  const spec = schema?.properties?.spec;
  const problem = spec === undefined ? undefined : problemIn(object.spec ?? {}, spec, '.spec');
  return problem === undefined
    ? undefined
    : `failed to create typed patch object (${namespaceOf(object)}/${nameOf(object)}; ${textAt(object, 'apiVersion')}, Kind=${textAt(object, 'kind')}): ${problem}`;
}
