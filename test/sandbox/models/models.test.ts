import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { dropNulls } from '../../../src/kubernetes/schema/index.ts';
import { schemaOfModel } from '../../../src/sandbox/models/models.ts';

test('a schema has the fields of its model', () => {
  expect(Object.keys(schemaOfModel('io.k8s.api.v1.Secret').properties ?? {})).toEqual([
    'apiVersion',
    'data',
    'immutable',
    'kind',
    'metadata',
    'stringData',
    'type',
  ]);
});

test.each<[string, JsonObject, JsonObject]>([
  ['io.k8s.api.v1.ConfigMap', { data: { a: null, b: 'x' }, immutable: null }, { data: { a: '', b: 'x' } }],
  [
    'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
    { creationTimestamp: null, labels: null, finalizers: [null] },
    { finalizers: [''] },
  ],
  [
    'io.k8s.api.v1.PodSpec',
    { containers: [null, { ports: [{ containerPort: null }] }] },
    { containers: [{}, { ports: [{}] }] },
  ],
  [
    'io.k8s.api.v1.JSONSchemaProps',
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
  dropNulls(value, schemaOfModel(model), false);
  expect(value).toEqual(result);
});
