import { expect, test } from 'vitest';
import type { Schema } from '../../../src/kubernetes/schema/index.ts';
import { isBelow, joinPath, schemaAt, tokensOf } from '../../../src/runtimehooks/versions/schema-path.ts';

test.each([
  ['', []],
  ['spec', ['spec']],
  ['status.handlers[].name', ['status', 'handlers', '[]', 'name']],
  ['rooms{}.smell', ['rooms', '{}', 'smell']],
  ['a[]{}[].b', ['a', '[]', '{}', '[]', 'b']],
])('the steps of %j', (path, tokens) => {
  expect(tokensOf(path)).toEqual(tokens);
  expect(tokens.reduce(joinPath, '')).toBe(path);
});

test.each([
  ['a.b', 'a', true],
  ['a[]', 'a', true],
  ['a{}', 'a', true],
  ['a.b.c', 'a.b', true],
  ['a', 'a', false],
  ['ab', 'a', false],
  ['a', 'a.b', false],
  ['b.a.c', 'a', false],
])('%s below %s: %j', (path, ancestor, expected) => {
  expect(isBelow(path, ancestor)).toBe(expected);
});

test('the schema of a field', () => {
  const leaf: Schema = { type: 'string' };
  const root: Schema = {
    properties: {
      list: { type: 'array', items: { properties: { name: leaf } } },
      map: { type: 'object', additionalProperties: { properties: { name: leaf } } },
      open: { type: 'object', additionalProperties: true } as unknown as Schema,
    },
  };
  expect(schemaAt(root, '')).toBe(root);
  expect(schemaAt(root, 'list[].name')).toBe(leaf);
  expect(schemaAt(root, 'map{}.name')).toBe(leaf);
  for (const missing of [
    'x',
    'x.y',
    'list.name',
    'list{}',
    'map[]',
    'open{}',
    'list[].name.x',
    'x[]',
    'x{}',
    'toString',
  ]) {
    expect(schemaAt(root, missing)).toBeUndefined();
  }
});
