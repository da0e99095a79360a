import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { readSchema } from '../../../src/runtimehooks/variables/index.ts';

const whole: JsonObject = {
  description: 'd',
  exclusiveMaximum: true,
  exclusiveMinimum: true,
  format: 'f',
  maxItems: 0,
  maxLength: 0,
  maxProperties: 0,
  maximum: 0,
  minItems: 0,
  minLength: 0,
  minProperties: 0,
  minimum: 0,
  pattern: 'p',
  type: 'object',
  uniqueItems: true,
  'x-kubernetes-int-or-string': true,
  'x-kubernetes-preserve-unknown-fields': true,
  default: false,
  example: '',
  items: { type: 'string' },
  additionalProperties: { type: 'string' },
  not: { required: ['a'] },
  allOf: [{ required: ['a'] }],
  anyOf: [{ required: ['a'] }],
  oneOf: [{ required: ['a'] }],
  properties: { a: { type: 'string' }, b: {} },
  required: ['a'],
  enum: [null, 1],
  'x-kubernetes-validations': [{ rule: 'true' }],
};

test('all fields that Cluster API knows are kept, at any depth', () => {
  expect(readSchema(whole)).toEqual(whole);
  expect(readSchema({ items: whole })).toEqual({ items: whole });
});

test('what it does not know is left out, as are zero values and those of another type', () => {
  expect(readSchema({ nullable: true, title: 't', multipleOf: 2, 'x-metadata': {} })).toEqual({});
  const wrong = Object.fromEntries(Object.keys(whole).map((name) => [name, name === 'default' ? null : ['x']]));
  const { example, required, enum: allowed, ...rest } = readSchema({ ...wrong, allOf: [1], anyOf: 'x' }) as JsonObject;
  expect([example, required, allowed]).toEqual([['x'], ['x'], ['x']]);
  expect(rest).toEqual({});
  const empty: JsonObject = { type: '', uniqueItems: false, properties: {}, required: [1], enum: [], allOf: [] };
  expect(readSchema({ ...empty, example: null, 'x-kubernetes-validations': [] })).toEqual({});
  expect(readSchema({ properties: { a: 1, b: {} }, additionalProperties: true })).toEqual({ properties: { b: {} } });
  expect(readSchema({ 'x-kubernetes-validations': [{ rule: 'true', optionalOldSelf: true }] })).toEqual({
    'x-kubernetes-validations': [{ rule: 'true' }],
  });
});
