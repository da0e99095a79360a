import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createConverter,
  createReview,
  UnlistedDifferenceError,
  type VersionChange,
  type VersionMap,
} from '../../../src/extensionconfig/conversion/index.ts';
import { ConversionError, type Json, type JsonObject } from '../../../src/kubernetes/index.ts';
import { runs } from '../../support/runs.ts';
import { canonical, objectOf } from './arbitrary.ts';
import { firstChange, kitchenSchemas, kitchens, secondChange } from './invented.ts';

const converter = createConverter(kitchens);
const [v1, v2, v3] = converter.apiVersions as [string, string, string];
const kitchen = (apiVersion: string, spec: Json): JsonObject => ({ apiVersion, kind: 'Kitchen', metadata: {}, spec });

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

test('converts an invented kind by its table, step by step along a chain', () => {
  const { metadata, ...rest } = converter.convert(oldKitchen, v3);
  expect(rest).toEqual({
    apiVersion: v3,
    kind: 'Kitchen',
    spec: {
      chef: 'Ann',
      url: 'https://x',
      size: 12,
      paint: { colour: 'red' },
      pots: [{ name: 'big', litres: 9 }, { name: 'small' }],
      rooms: { main: { doors: 2 }, __proto: {} },
      notes: ['a'],
    },
  });
  const { annotations } = metadata as { annotations: Record<string, string> };
  expect(JSON.parse(annotations['kitchens.example.com/kept']!)).toEqual({
    [v1]: [
      { path: ['spec', 'mood'], value: 'Odd' },
      { path: ['spec', 'pots', { label: 'big' }, 'lid'], value: 'glass' },
      { path: ['spec', 'rooms', ['main'], 'smell'], value: 'fine' },
      { path: ['spec', 'rooms', ['__proto'], 'smell'], value: '' },
    ],
  });
});

describe.each(
  [v1, v2, v3].flatMap((from) => [v1, v2, v3].filter((to) => to !== from).map((to) => [from, to] as const)),
)('%s → %s', (from, to) => {
  test('and back loses nothing', () => {
    const { schema } = kitchenSchemas.find(({ apiVersion }) => apiVersion === from)!;
    fc.assert(
      fc.property(objectOf(from, 'Kitchen', schema), (object) => {
        expect(canonical(converter.convert(converter.convert(object, to), from))).toBe(canonical(object));
      }),
      { numRuns: runs(150) },
    );
  });
});

test('a failing step names the field, and the review the object', () => {
  const { review } = createReview(converter)({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    request: { uid: 'u', desiredAPIVersion: v3, objects: [oldKitchen, kitchen(v1, { size: '007' })] },
  }) as { review: object };
  expect(review).toMatchObject({
    response: {
      convertedObjects: [],
      result: { status: 'Failure', message: 'Kitchen objects[1]: spec.size: must be a number without leading zeros' },
    },
  });
});

test('a step that throws reveals nothing of the object', () => {
  const broken = createConverter({
    ...kitchens,
    changes: [
      firstChange,
      {
        ...secondChange,
        toNewer: () => {
          throw new TypeError('hunter2');
        },
      },
    ],
  });
  const answer = createReview(broken)({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    request: { uid: 'u', desiredAPIVersion: v3, objects: [oldKitchen] },
  });
  expect(JSON.stringify(answer)).toMatch(/internal error \(TypeError\)/);
  expect(JSON.stringify(answer)).not.toContain('hunter2');
});

test('a step may change only labels and annotations of the metadata', () => {
  const meddling = createConverter({
    ...kitchens,
    changes: [
      firstChange,
      {
        ...secondChange,
        toNewer: (converted) => ({ ...converted, metadata: { name: 'new', uid: 'new', labels: { a: 'b' } } }),
      },
    ],
  });
  const object = { ...kitchen(v2, {}), metadata: { name: 'old', annotations: { c: 'd' } } };
  expect(meddling.convert(object, v3).metadata).toStrictEqual({ name: 'old', labels: { a: 'b' } });
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
    expect(tree.convert({ kind: 'K', apiVersion: 'a/v1' }, 'a/v4')).toEqual({ kind: 'K', apiVersion: 'a/v4' });
  });

  describe('a field below a list without keys', () => {
    const list = (properties: object) => ({
      type: 'object' as const,
      properties: {
        items: { type: 'array' as const, items: { type: 'object' as const, properties: { ...properties } } },
      },
    });
    const map = {
      kind: 'K',
      versions: [
        { apiVersion: 'a/v1', schema: list({ x: { type: 'string' } }) },
        { apiVersion: 'a/v2', schema: list({}) },
      ],
      changes: [{ older: 'a/v1', newer: 'a/v2', removed: ['items[].x'] }],
    };

    test('cannot be kept', () => {
      expect(() => createConverter({ ...map, conversionDataAnnotation: 'b' })).toThrow(UnlistedDifferenceError);
    });

    test('can be lost', () => {
      const items = [{ x: 'y' }, { z: 1 }];
      expect(createConverter(map).convert({ kind: 'K', apiVersion: 'a/v1', items }, 'a/v2')).toEqual({
        kind: 'K',
        apiVersion: 'a/v2',
        items: [{}, { z: 1 }],
      });
    });
  });
});

describe('metadata', () => {
  const errorOf = (object: JsonObject) => {
    try {
      converter.convert(object, v2);
    } catch (error) {
      return error as ConversionError;
    }
    throw new Error('no error');
  };

  test.each<[string, Json]>([
    ['that is not an object', 'x'],
    ['whose annotations are not an object', { annotations: [] }],
  ])('%s has no room for the values to keep', (_, metadata) => {
    const error = errorOf({ ...kitchen(v1, { mood: 'Odd' }), metadata });
    expect(error).toBeInstanceOf(ConversionError);
    expect([error.path, error.message]).toEqual([['metadata'], 'must be an object, and so must its annotations']);
  });

  test('is added only if there is something to keep', () => {
    const { metadata: _none, ...bare } = kitchen(v1, { mood: 'Good' });
    expect(converter.convert(bare, v2)).toStrictEqual({ apiVersion: v2, kind: 'Kitchen', spec: { mood: 'Good' } });
    const { metadata } = converter.convert({ ...bare, spec: { mood: 'Odd' } }, v2);
    expect(Object.keys((metadata as { annotations: object }).annotations)).toEqual(['kitchens.example.com/kept']);
  });

  test('preserves other annotations, and loses the conversion data once it has been used', () => {
    const object = { ...kitchen(v1, { mood: 'Odd' }), metadata: { name: 'n', annotations: { a: 'b' } } };
    const there = converter.convert(object, v2);
    expect(there.metadata).toMatchObject({ name: 'n', annotations: { a: 'b' } });
    expect(converter.conversionDataBytes(there)).toBe(
      Buffer.byteLength(JSON.stringify({ [v1]: [{ path: ['spec', 'mood'], value: 'Odd' }] })),
    );
    expect(converter.conversionDataBytes(object)).toBe(0);
    expect(converter.convert(there, v1)).toStrictEqual(object);
  });
});

test("data for the object's current version is dropped, data for others is kept", () => {
  const entry = (name: string) => [{ path: ['spec', name], value: 'x' }];
  const object = (data: object): JsonObject => ({
    ...kitchen(v1, { cook: 'Ann' }),
    metadata: { annotations: { 'kitchens.example.com/kept': JSON.stringify(data) } },
  });
  const after = (data: object) => {
    const { annotations } = converter.convert(object(data), v2).metadata as { annotations?: Record<string, string> };
    return annotations && JSON.parse(annotations['kitchens.example.com/kept'] ?? 'null');
  };
  expect(after({ [v1]: entry('mood'), [v3]: entry('chef') })).toEqual({ [v3]: entry('chef') });
  expect(after({ [v1]: entry('mood') })).toBeUndefined();
});

test('without an annotation, values that a version cannot represent are lost', () => {
  const { conversionDataAnnotation: _none, ...rest } = kitchens;
  const lossy = createConverter(rest);
  const there = lossy.convert(kitchen(v1, { mood: 'Odd', cook: 'Ann' }), v2);
  expect(there).toStrictEqual(kitchen(v2, { chef: 'Ann' }));
  expect(lossy.conversionDataBytes({ metadata: { annotations: { undefined: 'x' } } })).toBe(0);
});

test.each<[JsonObject, string, string]>([
  [{ kind: 'Pot', apiVersion: v1 }, v2, '"Pot" is not Kitchen'],
  [{ kind: 'Kitchen', apiVersion: 'v0' }, v2, `cannot convert "v0"; the versions of Kitchen are ${v1}, ${v2}, ${v3}`],
  [{ kind: 'Kitchen', apiVersion: 7 }, v2, `cannot convert 7; the versions of Kitchen are ${v1}, ${v2}, ${v3}`],
  [{ kind: 'Kitchen', apiVersion: v1 }, 'v9', `cannot convert "v9"; the versions of Kitchen are ${v1}, ${v2}, ${v3}`],
])('%j is not converted to %s', (object, version, message) => {
  expect(() => converter.convert(object, version)).toThrow(message);
});
