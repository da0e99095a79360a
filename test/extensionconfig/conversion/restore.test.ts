import { describe, expect, test } from 'vitest';
import type { KeptStep, KeptValue } from '../../../src/extensionconfig/conversion/conversion-data.ts';
import { restore } from '../../../src/extensionconfig/conversion/restore.ts';
import type { OpenApiSchema } from '../../../src/extensionconfig/index.ts';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';

const item = { name: 'a' };
/** Restores values where a plan keeps these patterns, and lists have the keys `name` or `a` and `b`. */
function restored(object: JsonObject, values: [KeptStep[], Json][], ...patterns: string[]): JsonObject {
  const before = structuredClone(object);
  const result = restore(
    object,
    values.map(([path, value]): KeptValue => ({ path, value })),
    {
      root: undefined,
      kept: new Map(patterns.map((pattern) => [pattern, undefined])),
      listKeys: new Map([
        ['list[]', ['name']],
        ['pairs[]', ['a', 'b']],
      ]),
    },
  );
  expect(object).toEqual(before);
  return result;
}

describe('a value is restored', () => {
  test.each<[string, JsonObject, KeptStep[], string, JsonObject]>([
    ['in an object', { spec: { x: 1 } }, ['spec', 'y'], 'spec.y', { spec: { x: 1, y: 'kept' } }],
    ['at the top', { x: 1 }, ['y'], 'y', { x: 1, y: 'kept' }],
    ['in a map', { map: { k: {} } }, ['map', ['k'], 'y'], 'map{}.y', { map: { k: { y: 'kept' } } }],
    [
      'in a list item',
      { list: [{ name: 'b' }, item] },
      ['list', item, 'y'],
      'list[].y',
      { list: [{ name: 'b' }, { name: 'a', y: 'kept' }] },
    ],
    [
      'in an item of several keys, in any order',
      {
        pairs: [
          { a: 1, b: 1 },
          { a: 1, b: 2 },
        ],
      },
      ['pairs', { b: 2, a: 1 }, 'y'],
      'pairs[].y',
      {
        pairs: [
          { a: 1, b: 1 },
          { a: 1, b: 2, y: 'kept' },
        ],
      },
    ],
  ])('%s', (_, object, path, pattern, expected) => {
    expect(restored(object, [[path, 'kept']], pattern)).toEqual(expected);
  });

  test('together with others that share its place', () => {
    expect(
      restored(
        { list: [item, { name: 'b' }], spec: {} },
        [
          [['list', item, 'x'], 1],
          [['list', item, 'y'], 2],
          [['list', { name: 'b' }, 'x'], 3],
          [['spec', 'x'], 4],
        ],
        'list[].x',
        'list[].y',
        'spec.x',
      ),
    ).toEqual({
      list: [
        { name: 'a', x: 1, y: 2 },
        { name: 'b', x: 3 },
      ],
      spec: { x: 4 },
    });
  });
});

describe('a value is not restored', () => {
  test.each<[string, JsonObject, KeptStep[], string]>([
    ['that the plan does not keep', { spec: {} }, ['spec', 'x'], 'spec.y'],
    ['where its object is gone', { other: {} }, ['spec', 'x'], 'spec.x'],
    ['where its object is now a text', { spec: 'x' }, ['spec', 'x'], 'spec.x'],
    ['where its object is now a list', { spec: [] }, ['spec', 'x'], 'spec.x'],
    ['where its list is gone', {}, ['list', item, 'x'], 'list[].x'],
    ['where its list is now an object', { list: { name: 'a' } }, ['list', item, 'x'], 'list[].x'],
    ['where its item is gone', { list: [{ name: 'b' }] }, ['list', item, 'x'], 'list[].x'],
    ['where it was the item itself, and that is gone', { list: [{ name: 'b' }] }, ['list', item], 'list[]'],
    ['where its item is now a text', { list: ['a'] }, ['list', {}, 'x'], 'list[].x'],
    ['where the list has other keys', { other: [item] }, ['other', item, 'x'], 'other[].x'],
    ['by a step that hides a path', { 'spec.a': {} }, ['spec.a', 'x'], 'spec.a.x'],
    ['by a longer path', { spec: { x: { y: {} } } }, ['spec', 'x', 'y', 'z'], 'spec.x'],
  ])('%s', (_, object, path, pattern) => {
    expect(restored(object, [[path, { name: 'a' }]], pattern)).toEqual(object);
  });
});

test('existing values win, down to single fields', () => {
  const kept: Json = { a: 1, b: { c: 2, d: 3 }, e: { f: 4 }, g: 5 };
  expect(
    restored({ spec: { x: { a: 9, b: { c: 9 }, e: 'text', g: { h: 1 } } } }, [[['spec', 'x'], kept]], 'spec.x'),
  ).toEqual({
    spec: { x: { a: 9, b: { c: 9, d: 3 }, e: 'text', g: { h: 1 } } },
  });
  expect(restored({ spec: { x: null } }, [[['spec', 'x'], kept]], 'spec.x')).toEqual({ spec: { x: null } });
});

test('of several values for one place the first counts, and nothing of the others', () => {
  const twice = (path: KeptStep[]): [KeptStep[], Json][] => [
    [path, { first: 1 }],
    [path, { second: 2 }],
  ];
  expect(restored({ spec: {} }, twice(['spec', 'x']), 'spec.x')).toEqual({ spec: { x: { first: 1 } } });
  expect(restored({ list: [item] }, twice(['list', item, 'x']), 'list[].x')).toEqual({
    list: [{ name: 'a', x: { first: 1 } }],
  });
  // Of several items with the same keys, the nth value goes to the nth item.
  expect(
    restored(
      { list: [item, { name: 'b' }, item] },
      [...twice(['list', item, 'x']), ...twice(['list', item, 'x'])],
      'list[].x',
    ),
  ).toEqual({
    list: [{ name: 'a', x: { first: 1 } }, { name: 'b' }, { name: 'a', x: { second: 2 } }],
  });
});

test('a value within the limits of the other version was not written by this program', () => {
  const limits: OpenApiSchema = { type: 'integer', minimum: 1 };
  const plan = { root: undefined, kept: new Map([['spec.x', limits]]), listKeys: new Map() };
  const values = (value: Json): KeptValue[] => [{ path: ['spec', 'x'], value }];
  expect(restore({ spec: {} }, values(0), plan)).toEqual({ spec: { x: 0 } });
  expect(restore({ spec: {} }, values(1), plan)).toEqual({ spec: {} });
});

test('__proto__ is an ordinary name', () => {
  const object = JSON.parse('{"map":{"__proto__":{}}}') as JsonObject;
  const result = restored(object, [[['map', ['__proto__'], 'x'], 1]], 'map{}.x');
  expect(JSON.stringify(result)).toBe('{"map":{"__proto__":{"x":1}}}');
});
