import { describe, expect, test } from 'vitest';
import { getField, setField } from '../../../../src/extension/sdk/topology/index.ts';
import type { Json, JsonObject } from '../../../../src/kubernetes/index.ts';

test.each<[string, (string | number)[]]>([
  ['a', ['a']],
  ['a.b-c/d', ['a', 'b-c/d']],
  ['a[0][12]', ['a', 0, 12]],
  ['[3].a', [3, 'a']],
  ['a["b.c"]["d"]', ['a', 'b.c', 'd']],
  ['a[""]', ['a', '']],
  ['["x"]', ['x']],
  ['a[999999999]', ['a', 999_999_999]],
  [`${'a.'.repeat(511)}ab`, [...Array.from({ length: 511 }, () => 'a'), 'ab']],
])('the path %s', (path, segments) => {
  const object = segments.reduceRight<Json>((inner, segment) => {
    const outer: Json = typeof segment === 'number' ? [] : {};
    return Object.assign(outer, { [segment]: inner });
  }, 'here');
  expect(getField(object, path)).toBe('here');
});

test.each([
  '',
  '.',
  '.a',
  'a.',
  'a..b',
  'a.[0]',
  'a["b"]c',
  'a[0]b',
  'a[1234567890]',
  'a[-1]',
  'a["b]',
  'a["b"',
  '__proto__',
  `${'a.'.repeat(511)}abc`,
])('%s is not a path', (path) => {
  const shown = JSON.stringify(path.slice(0, 100));
  expect(() => getField({}, path)).toThrow(new SyntaxError(`${shown} is not a path such as a.b[0].c or a["b.c"]`));
  // It is not valid the second time either.
  expect(() => getField({}, path)).toThrow(SyntaxError);
});

describe('reading', () => {
  const object: JsonObject = { list: [{ name: 'a' }, null], text: 'x', nothing: null, '0': 'zero' };

  test.each<[string, Json | undefined]>([
    ['list[0].name', 'a'],
    ['list[1]', null],
    ['list[1].name', undefined],
    ['list[2]', undefined],
    ['list.length', undefined],
    ['list.0', undefined],
    ['0', 'zero'],
    ['[0]', undefined],
    ['text.length', undefined],
    ['text[0]', undefined],
    ['nothing', null],
    ['nothing.more', undefined],
    ['toString', undefined],
  ])('%s', (path, value) => {
    expect(getField(object, path)).toEqual(value);
  });
});

describe('writing', () => {
  const set = (object: JsonObject, path: string, value: Json | undefined) => {
    setField(object, path, value);
    return object;
  };

  test.each<[string, JsonObject, string, Json | undefined, JsonObject]>([
    ['a field', {}, 'a', 1, { a: 1 }],
    ['over another value', { a: 1, b: 2 }, 'a', { c: 1 }, { a: { c: 1 }, b: 2 }],
    ['null', { a: 1 }, 'a', null, { a: null }],
    ['missing objects in the path', {}, 'a.b.c', 1, { a: { b: { c: 1 } } }],
    ['missing lists in the path', {}, 'a[0][0].b', 1, { a: [[{ b: 1 }]] }],
    ['in place of null', { a: null }, 'a.b', 1, { a: { b: 1 } }],
    ['an item', { a: [1, 2] }, 'a[1]', 3, { a: [1, 3] }],
    ['an item at the end', { a: [1] }, 'a[1]', 2, { a: [1, 2] }],
    ['a field of an item', { a: [{ b: 1 }] }, 'a[0].b', 2, { a: [{ b: 2 }] }],
    ['no field', { a: 1, b: 2 }, 'a', undefined, { b: 2 }],
    ['no field deeper', { a: { b: 1, c: 2 } }, 'a.b', undefined, { a: { c: 2 } }],
    ['no field where none exists', { a: {} }, 'a.b.c', undefined, { a: {} }],
    ['no field in null', { a: null }, 'a.b', undefined, { a: null }],
    ['no item', { a: [1, 2, 3] }, 'a[1]', undefined, { a: [1, 3] }],
    ['no item where none exists', { a: [1] }, 'a[5]', undefined, { a: [1] }],
    ['no field in a text', { a: 'x' }, 'a.b', undefined, { a: 'x' }],
    ['no item of an object', { a: { b: 1 } }, 'a[0]', undefined, { a: { b: 1 } }],
    ['no field of a list', { a: [1] }, 'a.b', undefined, { a: [1] }],
  ])('%s', (_, object, path, value, expected) => {
    expect(set(structuredClone(object), path, value)).toEqual(expected);
  });

  test.each<[string, JsonObject, string, string]>([
    ['past the end', { a: [1] }, 'a[2]', '2'],
    ['a field of a list', { a: [1] }, 'a.b', '"b"'],
    ['an item of an object', { a: {} }, 'a[0]', '0'],
    ['a field of a text', { a: 'x' }, 'a.b', '"b"'],
    ['an item in the path, past the end', { a: [] }, 'a[1].b', '1'],
  ])('rejects %s', (_, object, path, segment) => {
    const before = structuredClone(object);
    expect(() => set(object, path, 1)).toThrow(
      new RangeError(`${path}: ${segment} cannot be set: there is no object or list that takes it`),
    );
    expect(object).toEqual(before);
  });
});

test.each<[JsonObject, string]>([
  [{}, 'a[1]'],
  [{}, 'a.b[0][2].c'],
  [{ a: 'text' }, 'a.b'],
  [{ a: [] }, 'a[1].b'],
])('what cannot be set changes nothing: %j, %s', (object, path) => {
  const before = structuredClone(object);
  expect(() => setField(object, path, 1)).toThrow(RangeError);
  expect(object).toEqual(before);
});
