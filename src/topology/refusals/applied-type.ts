import { repeated } from '../../base/index.ts';
import { isJsonObject, type Json, type JsonObject, nameOf, namespaceOf, textAt } from '../../kubernetes/index.ts';
import { isOfType, joinPath, partsIn, propertyOf, type Schema } from '../../kubernetes/schema/index.ts';

function shown(value: Json): string {
  const printed = (part: Json): string => {
    if (typeof part !== 'object' || part === null) {
      return part === null ? '<nil>' : String(part);
    }
    if (Array.isArray(part)) {
      return `[${part.map(printed).join(' ')}]`;
    }
    const fields = Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1));
    return `map[${fields.map(([key, field]) => `${key}:${printed(field)}`).join(' ')}]`;
  };
  return `&{${printed(value).slice(0, 200)}}`;
}

function goType(value: Json): string {
  const names: Record<string, string> = { string: 'string', boolean: 'bool', number: 'float64' };
  return names[typeof value] ?? (Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}');
}

/** What structured-merge-diff expects for each type of a schema, and how it shows another value. */
const expected: Readonly<Record<string, readonly [wanted: string, got: (value: Json) => string]>> = {
  array: ['list', shown],
  object: ['map', shown],
  string: ['string', (value) => `&value.valueUnstructured{Value:${JSON.stringify(value)}}`],
  boolean: ['boolean', goType],
  integer: ['numeric (int or float)', goType],
  number: ['numeric (int or float)', goType],
};

function duplicateIn(items: readonly Json[], schema: Schema): string | undefined {
  const { 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': keys = [] } = schema;
  const identityOf = (item: Json): string => {
    const named = keys.toSorted().flatMap((key) => {
      const value = isJsonObject(item) ? item[key] : undefined;
      return value === undefined ? [] : [`${key}=${JSON.stringify(value)}`];
    });
    return `[${type === 'set' ? `=${JSON.stringify(item)}` : named.join(',')}]`;
  };
  const [twice] = type === 'set' || type === 'map' ? repeated(items.map(identityOf), (identity) => identity) : [];
  return twice;
}

/** The first value that is not of the type that a schema wants, or that it does not name. Null is of every type. */
function problemIn(value: Json, schema: Schema, path: string): string | undefined {
  const [wanted, got] = expected[schema.type ?? ''] ?? [];
  if (value === null || wanted === undefined || got === undefined) {
    return undefined;
  }
  // A fraction is a number here, too.
  if (!isOfType(value, schema.type === 'integer' ? 'number' : (schema.type ?? ''))) {
    return `${path}: expected ${wanted}, got ${got(value)}`;
  }
  const twice = Array.isArray(value) ? duplicateIn(value, schema) : undefined;
  if (twice !== undefined) {
    return `${path}: duplicate entries for key ${twice}`;
  }
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true;
  for (const { key, part, schema: inner } of partsIn(value, schema)) {
    if (inner === undefined && !isOpen && isJsonObject(value)) {
      return `${path}.${key}: field not declared in schema`;
    }
    const problem = inner && problemIn(part, inner, joinPath(path, key));
    if (problem !== undefined) {
      return problem;
    }
  }
  return undefined;
}

/** Why structured-merge-diff cannot read the spec of an object that is applied, in its words. */
export function appliedTypeProblem(intent: JsonObject, schema: Schema): string | undefined {
  const spec = propertyOf(schema, 'spec');
  const problem = spec && problemIn(intent.spec ?? {}, spec, '.spec');
  return (
    problem &&
    `failed to create typed patch object (${namespaceOf(intent)}/${nameOf(intent)}; ${textAt(intent, 'apiVersion')}, Kind=${textAt(intent, 'kind')}): ${problem}`
  );
}
