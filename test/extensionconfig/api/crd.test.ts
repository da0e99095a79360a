import { expect, test } from 'vitest';
import { type LimitedSchema, maxAnnotationBytes, ownSchemaOf } from '../../../src/extensionconfig/api/crd.ts';
import { hubVersion, openApiSchemaOf, versions } from '../../../src/extensionconfig/index.ts';
import { hasMoreBytes } from '../../../src/kubernetes/index.ts';

test.each(versions)('the schema of %s is that of the CustomResourceDefinition, plus the metadata', (version) => {
  const { properties = {}, ...rest } = ownSchemaOf(version);
  const { properties: given = {}, ...givenRest } = openApiSchemaOf(version);
  const { metadata, ...others } = properties;
  const { metadata: _metadata, ...givenOthers } = given;
  expect(rest).toEqual(givenRest);
  expect(others).toEqual(givenOthers);
  expect(metadata).toEqual({
    type: 'object',
    properties: {
      name: { type: 'string', maxLength: 253 },
      generateName: { type: 'string', maxLength: 253 },
      namespace: { type: 'string' },
      annotations: { type: 'object', additionalProperties: { type: 'string' }, maxTotalBytes: maxAnnotationBytes },
      labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 63 } },
      deletionTimestamp: { type: 'string' },
    },
  });
});

/** What `examine` finds violations of, and what does not limit values. */
const examined: readonly string[] = [
  ...['type', 'properties', 'additionalProperties', 'items', 'required', 'enum', 'format', 'pattern'],
  ...['minLength', 'maxLength', 'minimum', 'maxItems', 'minProperties', 'maxTotalBytes'],
];
const unlimiting = /^(description|x-kubernetes-(list|map)-(type|map-keys))$/;

function keywordsOf(schema: LimitedSchema): string[] {
  const { properties = {}, additionalProperties, items } = schema;
  const below = [...Object.values(properties), additionalProperties, items].flatMap((one) =>
    typeof one === 'object' ? keywordsOf(one) : [],
  );
  return [...Object.keys(schema), ...below];
}

test.each(versions)('the schema of %s has no other keywords than are examined', (version) => {
  const keywords = new Set(keywordsOf(ownSchemaOf(version)).filter((keyword) => !unlimiting.test(keyword)));
  expect([...keywords].sort()).toEqual(
    examined.filter((one) => one !== 'minProperties' || version === hubVersion).toSorted(),
  );
});

test.each([
  [{ a: 'bc' }, 3],
  [{ a: 'é', é: '' }, 5],
  [{ '€': '€€' }, 9],
  [{ a: '😀' }, 5],
  [{ a: 7, b: null }, 2],
  [{ a: 'bc', d: 'ef' }, 6],
])('%j has exactly %d bytes of keys and values', (map, bytes) => {
  expect(hasMoreBytes(map, bytes)).toBe(false);
  expect(hasMoreBytes(map, bytes - 1)).toBe(true);
});

test('a map with far more bytes is only read until the limit is exceeded', () => {
  let reads = 0;
  const map = new Proxy(Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, 'é'])), {
    get(target, key) {
      reads += 1;
      return Reflect.get(target, key);
    },
  });
  expect(hasMoreBytes(map, 100)).toBe(true);
  expect(reads).toBeLessThan(100);
});
