import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { crd } from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { structuralCauses } from '../../../src/kubernetes/schema/index.ts';
import { testRows } from '../../support/rows.ts';

test("Cluster API's own schemas are structural", () => {
  for (const { name, schema } of crd.spec.versions) {
    expect(structuralCauses(schema.openAPIV3Schema as unknown as JsonObject, name)).toEqual([]);
  }
});

const text = { type: 'string' };

test.each<[string, JsonObject, [string, string][]]>([
  ['a field without a type', { properties: { a: {} } }, [['s.properties[a].type', 'FieldValueRequired']]],
  [
    'an item without a type',
    { properties: { a: { type: 'array', items: {} } } },
    [['s.properties[a].items.type', 'FieldValueRequired']],
  ],
  ['a list without items', { properties: { a: { type: 'array' } } }, [['s.properties[a].items', 'FieldValueRequired']]],
  [
    'int-or-string and open fields without a type',
    {
      properties: {
        a: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        b: { 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    [],
  ],
  [
    'a reference',
    { properties: { a: { type: 'object', $ref: '#/x' } } },
    [['s.properties[a].$ref', 'FieldValueForbidden']],
  ],
  [
    'unique items',
    { properties: { a: { type: 'array', items: text, uniqueItems: true } } },
    [['s.properties[a].uniqueItems', 'FieldValueForbidden']],
  ],
  [
    'properties together with additional ones',
    { properties: { a: text }, additionalProperties: text },
    [
      ['s.additionalProperties', 'FieldValueForbidden'],
      ['s.additionalProperties', 'FieldValueForbidden'],
    ],
  ],
  [
    'no additional properties',
    { properties: { a: text }, additionalProperties: false },
    [
      ['s.additionalProperties', 'FieldValueForbidden'],
      ['s.additionalProperties', 'FieldValueForbidden'],
    ],
  ],
  [
    'a type within anyOf',
    { properties: { a: text }, anyOf: [{ properties: { a: { type: 'string' } } }] },
    [['s.anyOf[0].properties[a].type', 'FieldValueForbidden']],
  ],
  [
    'a field that is only in oneOf',
    { oneOf: [{ properties: { a: { minLength: 1 } } }] },
    [['s.properties[a]', 'FieldValueRequired']],
  ],
  [
    'a default within not',
    { properties: { a: text }, not: { allOf: [{ default: {} }] } },
    [['s.not.allOf[0].default', 'FieldValueForbidden']],
  ],
  [
    'restrictions of known fields in every junctor',
    { properties: { a: text }, oneOf: [{ required: ['a'] }, { properties: { a: { enum: ['x'] } } }] },
    [],
  ],
  [
    'a default of another type',
    { properties: { a: { type: 'string', default: 1 } } },
    [['s.properties[a].default', 'FieldValueTypeInvalid']],
  ],
  [
    'a default with an unknown field',
    { properties: { a: { type: 'object', properties: { b: text }, default: { c: 'x' } } } },
    [['s.properties[a].default', 'FieldValueInvalid']],
  ],
  [
    'restricted labels',
    {
      properties: {
        metadata: {
          type: 'object',
          properties: { name: { type: 'string', maxLength: 5 }, labels: { type: 'object' } },
        },
      },
    },
    [['s.properties[metadata]', 'FieldValueForbidden']],
  ],
])('structural schema: %s', (_name, schema, causes) => {
  const found = structuralCauses({ type: 'object', ...schema }, 's');
  expect(found.map(({ field, reason }) => [field, reason])).toEqual(causes);
});

/** Schemas, each with the problems that apiextensions-apiserver 0.36.4 refuses it for. */
const recorded = JSON.parse(
  readFileSync(new URL('../../support/fixtures/kube-apiserver/structural-schemas.json', import.meta.url), 'utf8'),
) as Record<string, { schema: JsonObject; causes: string[] }>;

/** Schemas with problems that are not found here, or that only the API server leaves out. */
const known = new Set([
  'ref',
  'default integer 100000000000000000000',
  'default breaks rule',
  'default breaks rule above',
  'default combined',
  'type null',
  ...['list-map-keys', 'list-type', 'map-type'].flatMap((keyword) =>
    ['allOf', 'not'].map((junctor) => `${junctor} with x-kubernetes-${keyword}`),
  ),
]);

testRows('an API server and the sandbox agree about schemas', Object.entries(recorded), ({ schema, causes }, name) => {
  const problems = structuralCauses(schema, 's').map(({ field, message }) => `${field}: ${message}`);
  if (known.has(name)) {
    expect(problems.toSorted()).not.toEqual(causes);
  } else {
    expect(problems.toSorted()).toEqual(causes);
  }
});

const mapOf = (keys: string[], items: JsonObject, type = 'map'): JsonObject => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': type,
  'x-kubernetes-list-map-keys': keys,
});
const item = { type: 'object', properties: { name: text }, required: ['name'] };

test.each<[string, JsonObject, string[]]>([
  ['keys that items have', mapOf(['name'], item), []],
  [
    'keys that items do not have',
    mapOf(['name', 'other'], item),
    [
      's.properties[a].x-kubernetes-list-map-keys: Invalid value: ["name","other"]: entries must all be names of item properties',
    ],
  ],
  [
    'a key twice',
    mapOf(['name', 'name'], item),
    ['s.properties[a].x-kubernetes-list-map-keys: Invalid value: ["name","name"]: must not contain duplicate entries'],
  ],
  [
    'no keys',
    mapOf([], item),
    ['s.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map'],
  ],
  [
    'keys of texts',
    mapOf(['name'], text),
    [
      `s.properties[a].items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map`,
    ],
  ],
  [
    'keys of a set',
    mapOf(['name'], { ...item, 'x-kubernetes-map-type': 'atomic' }, 'set'),
    [
      's.properties[a].x-kubernetes-list-type: Invalid value: "set": must be map if x-kubernetes-list-map-keys is non-empty',
    ],
  ],
  [
    'int-or-string that is open',
    { 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true },
    [
      's.properties[a].x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true',
    ],
  ],
  [
    'a resource with fields, and one that is open',
    {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: {
        spec: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    [],
  ],
  [
    'a resource without fields',
    { type: 'object', 'x-kubernetes-embedded-resource': true },
    [
      's.properties[a].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
    ],
  ],
  [
    'a resource without a type',
    { 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    ['s.properties[a].type: Required value: must be object if x-kubernetes-embedded-resource is true'],
  ],
  [
    'a resource of any fields',
    {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
      additionalProperties: text,
    },
    ['s.properties[a].additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set'],
  ],
])("structural schema, in the API server's words: %s", (_name, schema, messages) => {
  const found = structuralCauses({ type: 'object', properties: { a: schema } }, 's');
  expect(found.map(({ field, message }) => `${field}: ${message}`)).toEqual(messages);
});

test('a default that takes too much work is named by its path', () => {
  const list = {
    type: 'array',
    items: { type: 'string', pattern: '^[xy]*x[xy]{900}$' },
    default: ['xy'.repeat(160_000)],
  };
  const [cause, ...others] = structuralCauses({ type: 'object', properties: { list } }, 's');
  expect(cause).toMatchObject({ field: 's.properties[list].default.[0]', reason: 'FieldValueForbidden' });
  expect(cause?.message).toContain('takes too much work to validate');
  expect(others).toEqual([]);
});
