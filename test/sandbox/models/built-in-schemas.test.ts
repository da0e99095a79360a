import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { dropNulls, type Schema } from '../../../src/kubernetes/schema/index.ts';
import { schemaOfModel } from '../../../src/sandbox/models/built-in-schemas.ts';

test('a schema has the fields of its model, and there is none without a model', () => {
  expect(Object.keys(schemaOfModel('V1Secret')?.properties ?? {})).toEqual([
    'apiVersion',
    'data',
    'immutable',
    'kind',
    'metadata',
    'stringData',
    'type',
  ]);
  expect(schemaOfModel('V1Nothing')).toBeUndefined();
});

test.each<[string, JsonObject, JsonObject]>([
  ['V1ConfigMap', { data: { a: null, b: 'x' }, immutable: null }, { data: { a: '', b: 'x' } }],
  ['V1ObjectMeta', { creationTimestamp: null, labels: null, finalizers: [null] }, { finalizers: [''] }],
  ['V1PodSpec', { containers: [null, { ports: [{ containerPort: null }] }] }, { containers: [{}, { ports: [{}] }] }],
  [
    'V1JSONSchemaProps',
    {
      anyOf: null,
      items: { not: null, type: 'string' },
      properties: { a: null },
      default: null,
      enum: [null, { a: null }],
      additionalProperties: true,
    },
    {
      items: { type: 'string' },
      properties: { a: {} },
      default: null,
      enum: [null, { a: null }],
      additionalProperties: true,
    },
  ],
])('nulls are dropped as Go decodes them: %s %j', (model, value, result) => {
  dropNulls(value, schemaOfModel(model) as Schema);
  expect(value).toEqual(result);
});
