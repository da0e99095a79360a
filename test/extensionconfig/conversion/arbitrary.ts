import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import type { Schema } from '../../../src/kubernetes/schema/index.ts';

const names = ['a', 'b', 'example.com/x', '__proto__', 'constructor', 'toString', ''];

function stringOf(schema: Schema): fc.Arbitrary<string> {
  if (schema.format === 'date-time') {
    return fc.constantFrom('2026-01-01T00:00:00Z', '2026-11-20T19:49:57Z');
  }
  if (schema.pattern !== undefined) {
    return fc.constantFrom('Discovered', 'Paused', 'A', 'b2', 'NotDiscovered');
  }
  const { minLength = 0, maxLength = 30 } = schema;
  const free = fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 12) });
  return minLength > 1 ? free : fc.oneof(free, fc.constantFrom('x', 'y', 'https://x.example'));
}

/**
 * Values that fit a schema, mostly small ones. Integers lie around the schema's bounds and around 0, to hit limits that
 * only one version has. List maps have no two items with the same keys, as the API server ensures.
 */
export function arbitraryOf(schema: Schema): fc.Arbitrary<Json> {
  if (schema.enum !== undefined) {
    return fc.constantFrom(...(schema.enum as Json[]));
  }
  switch (schema.type) {
    case 'object': {
      if (typeof schema.additionalProperties === 'object') {
        const key = fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 8 }));
        return fc
          .array(fc.tuple(key, arbitraryOf(schema.additionalProperties)), { maxLength: 4 })
          .map((entries) => Object.fromEntries(entries) as JsonObject);
      }
      const properties = Object.entries(schema.properties ?? {}).map(([name, child]) => [name, arbitraryOf(child)]);
      const required = schema.required ?? [];
      return fc
        .record(Object.fromEntries(properties) as Record<string, fc.Arbitrary<Json>>, {
          requiredKeys: required,
          noNullPrototype: true,
        })
        .filter((value) => Object.keys(value).length >= (schema.minProperties ?? 0)) as fc.Arbitrary<Json>;
    }
    case 'array': {
      const keys = schema['x-kubernetes-list-map-keys'] ?? [];
      const keyOf = (item: Json) => JSON.stringify(keys.map((key) => (item as JsonObject)[key] ?? null));
      const item = arbitraryOf(schema.items ?? {});
      const size = { minLength: schema.minItems ?? 0, maxLength: Math.min(schema.maxItems ?? 6, 6) };
      return keys.length === 0 ? fc.array(item, size) : fc.uniqueArray(item, { ...size, selector: keyOf });
    }
    case 'integer':
    case 'number': {
      const min = schema.minimum ?? -2_147_483_648;
      const max = schema.maximum ?? 2_147_483_647;
      return fc.oneof(fc.integer({ min, max }), fc.integer({ min: Math.max(min, -3), max: Math.min(max, 30) }));
    }
    case 'boolean':
      return fc.boolean();
    case 'string':
      return stringOf(schema);
    default:
      return fc.jsonValue() as fc.Arbitrary<Json>;
  }
}

/** Whole objects of a version, with the metadata that every object has. */
export function objectOf(apiVersion: string, kind: string, schema: Schema): fc.Arbitrary<JsonObject> {
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...properties } = schema.properties ?? {};
  const annotations = fc.option(fc.constantFrom<JsonObject>({ 'example.com/x': 'y' }, { a: '' }), { nil: undefined });
  return fc
    .tuple(arbitraryOf({ ...schema, properties }), fc.stringMatching(/^[a-z]{1,10}$/), annotations)
    .map(([rest, name, all]) => ({
      apiVersion,
      kind,
      metadata: { name, uid: 'u', generation: 3, ...(all && { annotations: all }) },
      ...(rest as JsonObject),
    }));
}

/** A value as text that is the same for equal values, even with keys such as `constructor`, which confuse matchers. */
export function canonical(value: Json): string {
  return JSON.stringify(value, (_key, inner: Json) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
