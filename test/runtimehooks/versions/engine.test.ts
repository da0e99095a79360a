import { describe, expect, test } from 'vitest';
import { ConversionError, type Json, type JsonObject } from '../../../src/kubernetes/index.ts';
import { createConverter, type VersionChange, type VersionMap } from '../../../src/runtimehooks/versions/engine.ts';
import { firstChange, kitchenSchemas, kitchens, secondChange } from './kitchens.ts';

const convert = createConverter(kitchens);
const [v1, v2, v3] = kitchenSchemas.map(({ apiVersion }) => apiVersion) as [string, string, string];
const kitchen = (apiVersion: string, spec: Json): JsonObject => ({ apiVersion, kind: 'Kitchen', spec });

const oldKitchen = kitchen(v1, {
  cook: 'Ann',
  URL: 'https://x',
  size: '12',
  mood: 'Odd',
  colour: 'red',
  pots: [{ label: 'big', litres: 9, lid: 'glass' }, { label: 'small' }],
  rooms: { main: { doors: 2, smell: 'fine' }, __proto: { smell: '' } },
  notes: ['a'],
});
const newKitchen = kitchen(v3, {
  chef: 'Ann',
  url: 'https://x',
  size: 12,
  paint: { colour: 'red' },
  pots: [{ name: 'big', litres: 9 }, { name: 'small' }],
  rooms: { main: { doors: 2 }, __proto: {} },
  notes: ['a'],
});

test('converts by its table, step by step along a chain; what a version cannot represent is lost', () => {
  const before = structuredClone(oldKitchen);
  expect(convert(oldKitchen, v3)).toEqual(newKitchen);
  expect(oldKitchen).toEqual(before);
});

test('and back', () => {
  const { mood: _, ...spec } = oldKitchen.spec as JsonObject;
  expect(convert(newKitchen, v1)).toEqual(
    kitchen(v1, {
      ...spec,
      pots: [{ label: 'big', litres: 9 }, { label: 'small' }],
      rooms: { main: { doors: 2 }, __proto: {} },
    }),
  );
});

test('is unchanged in its own version', () => {
  expect(convert(oldKitchen, v1)).toBe(oldKitchen);
});

test('a field named __proto__ is an ordinary one', () => {
  const rooms = JSON.parse('{"__proto__":{"doors":1,"smell":"x"}}') as JsonObject;
  expect(JSON.stringify(convert(kitchen(v1, { rooms }), v2).spec)).toBe('{"rooms":{"__proto__":{"doors":1}}}');
});

test.each<[string, Json, RegExp, (string | number)[]]>([
  ['a step that fails', { size: '007' }, /must be a number without leading zeros/, ['spec', 'size']],
  [
    'a place that is taken',
    { cook: 'Ann', chef: 'Bob' },
    /^becomes chef in the other version, which/,
    ['spec', 'cook'],
  ],
  [
    'a place in a value that is not an object',
    { colour: 'red', paint: 'x' },
    /^becomes spec.paint.colour, and paint is not an object$/,
    ['spec', 'colour'],
  ],
  [
    'a place in a list that is taken',
    { pots: [{}, { label: 'a', name: 'b' }] },
    /^becomes name in the other/,
    ['spec', 'pots', 1, 'label'],
  ],
])('%s is an error that names the field', (_, spec, message, path) => {
  let error: unknown;
  try {
    convert(kitchen(v1, spec), v3);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(ConversionError);
  expect((error as ConversionError).message).toMatch(message);
  expect((error as ConversionError).path).toEqual(path);
});

describe('an unlisted difference is an error at start', () => {
  const without = (part: Partial<VersionChange>): VersionMap => ({
    ...kitchens,
    changes: [{ ...firstChange, ...part }, secondChange],
  });
  test.each<[string, VersionMap, RegExp]>([
    ['a removed field', without({ removed: ['spec.rooms{}.smell'] }), /- spec.pots\[\].lid: only .*v1 has it/],
    ['an added field', without({ added: ['spec.pots[].weight'] }), /- spec.rooms{}.windows: only .*v2 has it/],
    ['a rename', without({ moves: {} }), /- spec.cook: only .*v1 has it\n(.*\n)*- spec.chef: only .*v2 has it/],
    ['tighter limits', without({ tighter: {} }), /- spec.mood: .*v2 limits enum where .*v1 does not/],
    [
      'a changed type',
      { ...kitchens, changes: [firstChange, { ...secondChange, byHand: {} }] },
      /- spec.size: string in .*v2, integer in .*v3/,
    ],
    [
      'a step that is missing',
      { ...kitchens, changes: [firstChange, { older: v2, newer: v3, byHand: secondChange.byHand! }] },
      /byHand names fields, but the step that writes them is missing/,
    ],
    ['a missing field', without({ removed: [...firstChange.removed, 'spec.oven'] }), /spec.oven: listed, but/],
    [
      'a move out of a list',
      without({ moves: { ...firstChange.moves, 'spec.pots[].lid': 'spec.url' } }),
      /spec.pots\[\].lid: moves to spec.url, outside its list/,
    ],
    [
      'a move to nowhere',
      without({ moves: { ...firstChange.moves, 'spec.cook': 'spec.boss' } }),
      /spec.cook: moves to spec.boss, which .*v2 does not have/,
    ],
    ['an unconnected version', { ...kitchens, changes: [firstChange] }, /must form a tree/],
    ['two paths', { ...kitchens, changes: [firstChange, secondChange, secondChange] }, /one path between any two/],
    ['a version without a schema', { ...kitchens, versions: kitchenSchemas.slice(1) }, /no schema for .*\/v1$/],
    [
      'the newest version without a schema',
      { ...kitchens, versions: kitchenSchemas.slice(0, 2) },
      /no schema for .*\/v3$/,
    ],
    [
      'no changes, and all the versions',
      { ...kitchens, changes: [] },
      /^the versions of Kitchen must form a tree, with one path between any two: \S+\/v1, \S+\/v2, \S+\/v3$/,
    ],
  ])('%s', (_name, map, message) => {
    expect(() => createConverter(map)).toThrow(message);
  });

  test.each<[string, Partial<VersionChange>]>([
    ['to the newer version', { byHand: { newer: ['spec.size'] }, toOlder: secondChange.toOlder! }],
    ['to the older version', { byHand: { older: ['spec.size'] }, toNewer: secondChange.toNewer! }],
  ])('a missing step %s', (_name, part) => {
    const change = { older: v2, newer: v3, ...part };
    expect(() => createConverter({ ...kitchens, changes: [firstChange, change] })).toThrow(
      /byHand names fields, but the step that writes them is missing/,
    );
  });

  test('versions that form a cycle, and one that is disconnected', () => {
    const schema = { type: 'object' as const };
    const names = ['a/v1', 'a/v2', 'a/v3', 'a/v4'];
    const map = (...changes: [older: string, newer: string][]): VersionMap => ({
      kind: 'K',
      versions: names.map((apiVersion) => ({ apiVersion, schema })),
      changes: changes.map(([older, newer]) => ({ older, newer })),
    });
    const circle = map(['a/v1', 'a/v2'], ['a/v2', 'a/v3'], ['a/v1', 'a/v3']);
    expect(() => createConverter(circle)).toThrow(/^the versions of K must form a tree/);
    const tree = createConverter(map(['a/v1', 'a/v2'], ['a/v2', 'a/v3'], ['a/v2', 'a/v4']));
    expect(tree({ kind: 'K', apiVersion: 'a/v1' }, 'a/v4')).toEqual({ kind: 'K', apiVersion: 'a/v4' });
  });
});

test.each<[JsonObject, string, string]>([
  [{ kind: 'Pot', apiVersion: v1 }, v2, '"Pot" is not Kitchen'],
  [{ kind: 'Kitchen', apiVersion: 'v0' }, v2, `cannot convert "v0"; the versions of Kitchen are ${v1}, ${v2}, ${v3}`],
  [{ kind: 'Kitchen', apiVersion: 7 }, v2, `cannot convert 7; the versions of Kitchen are ${v1}, ${v2}, ${v3}`],
  [{ kind: 'Kitchen', apiVersion: v1 }, 'v9', `cannot convert "v9"; the versions of Kitchen are ${v1}, ${v2}, ${v3}`],
])('%j is not converted to %s', (object, version, message) => {
  expect(() => convert(object, version)).toThrow(message);
});
