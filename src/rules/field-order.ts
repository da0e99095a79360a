import { type OpenApiSchema, openApiSchemaOf } from '../api/index.ts';
import type { FieldPath } from '../kubernetes/index.ts';

/** Properties of metadata that findings are about; their schema is not part of the CustomResourceDefinition. */
const metadata: OpenApiSchema = { properties: { name: {}, generateName: {}, labels: {}, annotations: {} } };

const root: OpenApiSchema = openApiSchemaOf('v1beta2');
const schema: OpenApiSchema = { ...root, properties: { ...root.properties, metadata } };

const ranks = new WeakMap<OpenApiSchema, ReadonlyMap<string | number, number>>();

/** The position of each property in a schema. */
function ranksIn(at: OpenApiSchema | undefined): ReadonlyMap<string | number, number> {
  const known = at && ranks.get(at);
  if (known !== undefined) {
    return known;
  }
  const made = new Map<string | number, number>(Object.keys(at?.properties ?? {}).map((name, rank) => [name, rank]));
  if (at !== undefined) {
    ranks.set(at, made);
  }
  return made;
}

/**
 * Orders two paths by the position of their fields in the API's schema, from top to bottom, as a `sort` callback does. An
 * object comes before its fields, items are ordered by index, and unknown fields come last, by name.
 */
export function compareFieldPaths(a: FieldPath, b: FieldPath): number {
  let at: OpenApiSchema | undefined = schema;
  for (let i = 0; i < a.length && i < b.length; i++) {
    const left = a[i] as string | number;
    const right = b[i] as string | number;
    if (left === right) {
      at = typeof left === 'number' ? at?.items : at?.properties?.[left];
      continue;
    }
    if (typeof left === 'number' && typeof right === 'number') {
      return left - right;
    }
    const places = ranksIn(at);
    const rank = (name: string | number) => places.get(name) ?? places.size;
    return rank(left) - rank(right) || (String(left) < String(right) ? -1 : 1);
  }
  return a.length - b.length;
}
