import { type OpenApiSchema, openApiSchemaOf } from '../api/index.ts';
import type { FieldPath } from '../kubernetes/index.ts';

/** Properties of metadata that findings are about; the API server's schema of it is not in the CustomResourceDefinition. */
const metadata: OpenApiSchema = { properties: { name: {}, generateName: {}, labels: {}, annotations: {} } };

const root: OpenApiSchema = openApiSchemaOf('v1beta2');
const schema: OpenApiSchema = { ...root, properties: { ...root.properties, metadata } };

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
    const names: readonly (string | number)[] = Object.keys(at?.properties ?? {});
    const rank = (name: string | number) => (names.includes(name) ? names.indexOf(name) : names.length);
    return rank(left) - rank(right) || (String(left) < String(right) ? -1 : 1);
  }
  return a.length - b.length;
}
