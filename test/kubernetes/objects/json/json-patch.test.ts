import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  applyOperations,
  changedNames,
  encodedPatch,
  isSame,
  type Json,
  type JsonObject,
  jsonPatchOf,
} from '../../../../src/kubernetes/index.ts';
import { runs } from '../../../support/runs.ts';

const json = (text: string) => JSON.parse(text) as Json;

/** An object that inherits the field `size`, which is not in its JSON. */
const inheriting = Object.assign(
  new (class {
    get size() {
      return 'large';
    }
  })(),
  { name: 'a', zone: 'b' },
) as unknown as JsonObject;

describe('isSame', () => {
  test.each<[Json | undefined, Json | undefined]>([
    [undefined, undefined],
    [1, 1],
    [null, null],
    [{}, {}],
    [[], []],
    [
      { a: [1, { b: 2 }], c: 'x' },
      { c: 'x', a: [1, { b: 2 }] },
    ],
    [{ a: 1, b: undefined } as unknown as Json, { a: 1 }],
    [json('{"__proto__":{"a":[1]}}'), json('{"__proto__":{"a":[1]}}')],
  ])('%j and %j are equal', (a, b) => {
    expect(isSame(a, b)).toBe(true);
    expect(isSame(b, a)).toBe(true);
  });

  test.each<[Json | undefined, Json | undefined]>([
    [undefined, null],
    [1, '1'],
    [null, {}],
    [[], {}],
    [{ 0: 'a' }, ['a']],
    [[1], [1, 2]],
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, { b: 1 }],
    [{ a: null }, {}],
    [{ a: { b: [{ c: 1 }] } }, { a: { b: [{ c: 2 }] } }],
    // Properties that every JavaScript object inherits are not fields.
    [json('{"toString":1}'), {}],
    [json('{"__proto__":{}}'), {}],
    [{ size: 'large', name: 'a' }, inheriting],
  ])('%j and %j differ', (a, b) => {
    expect(isSame(a, b)).toBe(false);
    expect(isSame(b, a)).toBe(false);
  });
});

describe('a JSON Patch', () => {
  test.each<[string, Json | undefined, Json | undefined, object[]]>([
    ['of the same', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
    ['of nothing', undefined, undefined, []],
    ['that makes the document', undefined, { a: 1 }, [{ op: 'add', path: '', value: { a: 1 } }]],
    ['that removes it', 7, undefined, [{ op: 'remove', path: '' }]],
    ['that replaces it', [], {}, [{ op: 'replace', path: '', value: {} }]],
    [
      'in the order of the names',
      { c: 1, a: 1, k: { z: 1, y: 1 } },
      { d: 1, c: 2, b: { x: 1 }, k: { y: 2, z: 2 } },
      [
        { op: 'remove', path: '/a' },
        { op: 'add', path: '/b', value: { x: 1 } },
        { op: 'replace', path: '/c', value: 2 },
        { op: 'add', path: '/d', value: 1 },
        { op: 'replace', path: '/k/y', value: 2 },
        { op: 'replace', path: '/k/z', value: 2 },
      ],
    ],
    [
      'of fields that are escaped',
      { 'a/b': 1, 'c~d': 1 },
      { 'a/b': 2, 'c~d': 2 },
      [
        { op: 'replace', path: '/a~1b', value: 2 },
        { op: 'replace', path: '/c~0d', value: 2 },
      ],
    ],
    [
      'of items',
      [{ a: 1 }, 2, 3],
      [{ a: 2 }, 2, 4],
      [
        { op: 'replace', path: '/0/a', value: 2 },
        { op: 'replace', path: '/2', value: 4 },
      ],
    ],
    ['of an item in front', [1, 2], [0, 1, 2], [{ op: 'add', path: '/0', value: 0 }]],
    ['of an item at the end', [1, 2], [1, 2, 3], [{ op: 'add', path: '/2', value: 3 }]],
    ['of an item in the middle', [1, 3], [1, 2, 3], [{ op: 'add', path: '/1', value: 2 }]],
    [
      'of removed items, from the end',
      [1, 2, 3, 4],
      [1, 4],
      [
        { op: 'remove', path: '/2' },
        { op: 'remove', path: '/1' },
      ],
    ],
    [
      'of items that repeat',
      [1, 1, 1],
      [1],
      [
        { op: 'remove', path: '/2' },
        { op: 'remove', path: '/1' },
      ],
    ],
    ['of a field that objects inherit', json('{"valueOf":1}'), {}, [{ op: 'remove', path: '/valueOf' }]],
    [
      'of an object that inherits a field with the same value, and has another one',
      { size: 'large', name: 'a' },
      inheriting,
      [
        { op: 'remove', path: '/size' },
        { op: 'add', path: '/zone', value: 'b' },
      ],
    ],
    ['of the field __proto__', {}, json('{"__proto__":{"a":1}}'), [{ op: 'add', path: '/__proto__', value: { a: 1 } }]],
  ])('%s', (_, before, after, patch) => {
    expect(jsonPatchOf(before, after)).toEqual(patch);
  });

  const value = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Json>(null, 0, 1, 'a'),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(
        fc.constantFrom('a', 'b', 'c~/', '__proto__', 'toString'),
        tie('value'),
      ) as fc.Arbitrary<JsonObject>,
    ),
  })).value;

  test('turns one value into the other', () => {
    fc.assert(
      fc.property(value, value, (before, after) => {
        const patched = applyOperations(before, jsonPatchOf(before, after));
        expect(isSame(patched, after)).toBe(true);
      }),
      { numRuns: runs(150) },
    );
  });

  test('of a long list contains only what changed', () => {
    const items = Array.from({ length: 10_000 }, (_, index) => ({ index }));
    const patch = jsonPatchOf(items, structuredClone(items).toSpliced(5_000, 1));
    expect(patch).toEqual([{ op: 'remove', path: '/5000' }]);
  });
});

// A key of a megabyte with ten thousand fields below it made a patch of ten gigabytes.
test('values below very long names are replaced as a whole', () => {
  const fields = (value: number, count = 3) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, value]));
  const [long, short] = ['k'.repeat(2048), 'k'.repeat(2047)];
  expect(jsonPatchOf({ a: { [short]: fields(0) }, b: 0 }, { a: { [short]: fields(1) }, b: 1 })).toEqual([
    { op: 'replace', path: `/a/${short}`, value: fields(1) },
    { op: 'replace', path: '/b', value: 1 },
  ]);
  expect(jsonPatchOf({ [long]: [fields(0), 1] }, { [long]: [fields(0), 1] })).toEqual([]);
  expect(jsonPatchOf({ [short]: fields(0, 1) }, { [short]: fields(1, 1) })).toEqual([
    { op: 'replace', path: `/${short}/f0`, value: 1 },
  ]);
});

test.each<[JsonObject, JsonObject, string[]]>([
  [{ a: 1, b: 2, c: 3 }, { d: 4, c: 3, b: 5 }, ['a', 'b', 'd']],
  [{ a: [] }, { a: [] }, ['a']],
  [{}, { toString: 1 }, ['toString']],
  [{ toString: 1 }, {}, ['toString']],
  [{ a: 1 }, { a: 1 }, []],
])('from %j to %j, what is not identical are the fields %j', (a, b, names) => {
  expect(changedNames(a, b)).toEqual(names);
});

test('a patch in a message is the base64 of its JSON', () => {
  expect(encodedPatch([{ op: 'remove', path: '/a' }])).toBe('W3sib3AiOiJyZW1vdmUiLCJwYXRoIjoiL2EifV0=');
});
