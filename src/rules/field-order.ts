import { type OpenApiSchema, openApiSchemaOf } from '../api/index.ts';
import type { FieldPath } from '../kubernetes/index.ts';

/** Properties of metadata that findings are about; the API server's schema of it is not in the CustomResourceDefinition. */
const metadata: OpenApiSchema = { properties: { name: {}, generateName: {}, labels: {}, annotations: {} } };

const root: OpenApiSchema = openApiSchemaOf('v1beta2');
const schema: OpenApiSchema = { ...root, properties: { ...root.properties, metadata } };

const ranks = new WeakMap<OpenApiSchema, ReadonlyMap<string | number, number>>();

/** Where a schema's properties stand in it. */
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
 * Orders two paths as their fields stand in the API's schema: a reader goes through the object from top to bottom. An
 * object comes before its fields; items come by index; fields that the schema does not have come last, by name.
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
