import { expect, test } from 'vitest';
import { type FieldTree, fieldTree, firstUnknown } from '../../../../src/extension/sdk/objects/field-tree.ts';
import type { Json } from '../../../../src/kubernetes/index.ts';

test.each<[string, Json | undefined, FieldTree]>([
  ['no schema', undefined, true],
  ['a text', { type: 'string' }, {}],
  ['an object of any fields', { type: 'object' }, { '*': true }],
  ['no type', {}, { '*': true }],
  ['a field', { properties: { a: { type: 'string' } } }, { a: {} }],
  ['a field, and others', { properties: { a: {} }, additionalProperties: true }, { a: { '*': true }, '*': true }],
  [
    'a field, and unknown ones that are kept',
    { properties: { a: { type: 'string' } }, 'x-kubernetes-preserve-unknown-fields': true },
    { a: {}, '*': true },
  ],
  ['a map', { type: 'object', additionalProperties: { type: 'string' } }, { '*': {} }],
  ['a list', { type: 'array', items: { properties: { a: { type: 'string' } } } }, [{ a: {} }]],
])('the fields of a schema with %s', (_name, schema, tree) => {
  expect(fieldTree(schema)).toEqual(tree);
});

test('a reference stands for another schema', () => {
  const schema = { properties: { a: { $ref: 'A' } } };
  const resolve = (one: { $ref?: Json }) => (one.$ref === 'A' ? { items: { type: 'string' } } : one);
  expect(fieldTree(schema, resolve)).toEqual({ a: [{}] });
});

const tree: FieldTree = { spec: { list: [{ a: {} }], map: { '*': { b: {} } }, any: true } };

test.each<[(string | number)[], number]>([
  [['spec', 'list'], -1],
  [['spec', 'list', 0, 'a'], -1],
  [['spec', 'list', '*', 'a'], -1],
  [['spec', 'list', 'a'], 2],
  [['spec', 'list', 0, 'b'], 3],
  [['spec', 'map', 'x', 'b'], -1],
  [['spec', 'map', 'x', 'c'], 3],
  [['spec', 'any', 'x', 0], -1],
  [['spec', '*', 'x', 'y'], -1],
  [['spec', 'none'], 1],
  [['toString'], 0],
  [[], -1],
])('the first segment of %j that is not known has the index %i', (path, index) => {
  expect(firstUnknown(tree, path)).toBe(index);
});
