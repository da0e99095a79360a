import { describe, expect, test } from 'vitest';
import {
  applyMergePatch,
  applyOperations,
  isOperation,
  type Json,
  type JsonObject,
  PatchError,
  type PatchOperation,
  undecodable,
} from '../../../../src/kubernetes/index.ts';

const before: JsonObject = { a: { b: [1, 2, 3] }, 'c/d~': null, '': { '': 7 }, n: 5 };

describe('operations of a JSON Patch', () => {
  test.each<[string, PatchOperation[], after: Json]>([
    ['none', [], before],
    ['a field', [{ op: 'add', path: '/x', value: { y: [] } }], { ...before, x: { y: [] } }],
    ['a field without a value is null', [{ op: 'add', path: '/x' }], { ...before, x: null }],
    ['the document', [{ op: 'add', path: '', value: 1 }], 1],
    ['another document', [{ op: 'replace', path: '', value: [0] }], [0]],
    ['an item at the front', [{ op: 'add', path: '/a/b/0', value: 0 }], { ...before, a: { b: [0, 1, 2, 3] } }],
    ['an item in between', [{ op: 'add', path: '/a/b/2', value: 0 }], { ...before, a: { b: [1, 2, 0, 3] } }],
    ['an item at the end', [{ op: 'add', path: '/a/b/3', value: 0 }], { ...before, a: { b: [1, 2, 3, 0] } }],
    ['an item past the end', [{ op: 'add', path: '/a/b/-', value: 0 }], { ...before, a: { b: [1, 2, 3, 0] } }],
    [
      'the tenth item',
      [{ op: 'add', path: '/10', value: 'x' }],
      Array.from({ length: 12 }, (_, i) => (i < 10 ? i : i === 10 ? 'x' : 10)),
    ],
    ['a field named -', [{ op: 'add', path: '/a/-', value: 0 }], { ...before, a: { b: [1, 2, 3], '-': 0 } }],
    ['an item after the last', [{ op: 'add', path: '/a/b/-1', value: 0 }], { ...before, a: { b: [1, 2, 3, 0] } }],
    ['an item before the first', [{ op: 'add', path: '/a/b/-4', value: 0 }], { ...before, a: { b: [0, 1, 2, 3] } }],
    ['an index with zeros', [{ op: 'add', path: '/a/b/01', value: 0 }], { ...before, a: { b: [1, 0, 2, 3] } }],
    ['in place of the last item', [{ op: 'replace', path: '/a/b/-1', value: 0 }], { ...before, a: { b: [1, 2, 0] } }],
    ['without the item before it', [{ op: 'remove', path: '/a/b/-2' }], { ...before, a: { b: [1, 3] } }],
    ['a test of a field that is missing', [{ op: 'test', path: '/x', value: null }], before],
    ['in place of a field', [{ op: 'replace', path: '/c~1d~0', value: 1 }], { ...before, 'c/d~': 1 }],
    ['in place of an item', [{ op: 'replace', path: '/a/b/1' }], { ...before, a: { b: [1, null, 3] } }],
    ['a field with an empty name', [{ op: 'replace', path: '//', value: 8 }], { ...before, '': { '': 8 } }],
    ['one field less', [{ op: 'remove', path: '/a/b' }], { ...before, a: {} }],
    ['one item less', [{ op: 'remove', path: '/a/b/1' }], { ...before, a: { b: [1, 3] } }],
    [
      'a field elsewhere',
      [{ op: 'move', from: '/n', path: '/a/n' }],
      { a: { b: [1, 2, 3], n: 5 }, 'c/d~': null, '': { '': 7 } },
    ],
    ['a field where it was', [{ op: 'move', from: '/n', path: '/n' }], before],
    [
      'a field whose name begins alike',
      [
        { op: 'move', from: '/n', path: '/nn' },
        { op: 'move', from: '/nn', path: '/n' },
      ],
      before,
    ],
    [
      'an item in front of others',
      [{ op: 'move', from: '/a/b/2', path: '/a/b/0' }],
      { ...before, a: { b: [3, 1, 2] } },
    ],
    [
      'a copy',
      [
        { op: 'copy', from: '/a/b', path: '/a/c' },
        { op: 'add', path: '/a/c/-', value: 4 },
      ],
      { ...before, a: { b: [1, 2, 3], c: [1, 2, 3, 4] } },
    ],
    ['a copy of the document', [{ op: 'copy', from: '', path: '/x' }], { ...before, x: before }],
    [
      'tests of the document and of an item',
      [
        { op: 'test', path: '', value: before },
        { op: 'test', path: '/a/b/0', value: 1 },
      ],
      before,
    ],
    [
      'a test',
      [
        { op: 'test', path: '/a', value: { b: [1, 2, 3] } },
        { op: 'test', path: '/c~1d~0' },
      ],
      before,
    ],
  ])('%s', (name, operations, after) => {
    const document: Json = name === 'the tenth item' ? Array.from({ length: 11 }, (_, index) => index) : before;
    const untouched = structuredClone(document);
    expect(applyOperations(document, operations)).toEqual(after);
    expect(document).toEqual(untouched);
  });

  const invalidIndex = (index: number) => `Unable to access invalid index: ${index}: invalid index referenced`;
  const notNumber = (key: string) => `strconv.Atoi: parsing "${key}": invalid syntax`;
  const notIndex = (key: string) => `value was not a proper array index: '${key}': ${notNumber(key)}`;

  test.each<[PatchOperation, message: string]>([
    ...['/x/y', '/n/y', '/a/b/9/y', '/constructor/y'].map((path): [PatchOperation, string] => [
      { op: 'add', path, value: 1 },
      `add operation does not apply: doc is missing path: "${path}": missing value`,
    ]),
    [{ op: 'add', path: '/a/b/4', value: 1 }, `error in add for path: '/a/b/4': ${invalidIndex(4)}`],
    [{ op: 'add', path: '/a/b/04', value: 1 }, `error in add for path: '/a/b/04': ${invalidIndex(4)}`],
    [{ op: 'add', path: '/a/b/-5', value: 1 }, `error in add for path: '/a/b/-5': ${invalidIndex(-5)}`],
    [{ op: 'add', path: '/a/b/--1', value: 1 }, `error in add for path: '/a/b/--1': ${notIndex('--1')}`],
    [{ op: 'add', path: '/a/b/1e0', value: 1 }, `error in add for path: '/a/b/1e0': ${notIndex('1e0')}`],
    [{ op: 'add', path: '/a/b/', value: 1 }, `error in add for path: '/a/b/': ${notIndex('')}`],
    ...['/x', '/a/b/3', '/a/b/-', '/a/b/length', '/toString'].map((path): [PatchOperation, string] => [
      { op: 'replace', path, value: 1 },
      `replace operation does not apply: doc is missing key: ${path}: missing value`,
    ]),
    [
      { op: 'replace', path: '/spec/missing/deep', value: 1 },
      'replace operation does not apply: doc is missing path: /spec/missing/deep: missing value',
    ],
    [
      { op: 'remove', path: '/x' },
      "error in remove for path: '/x': unable to remove nonexistent key: x: missing value",
    ],
    [{ op: 'remove', path: '/x/y' }, 'remove operation does not apply: doc is missing path: "/x/y": missing value'],
    [{ op: 'remove', path: '/a/b/-4' }, `error in remove for path: '/a/b/-4': ${invalidIndex(-4)}`],
    [{ op: 'remove', path: '' }, "error in remove for path: '': unable to remove nonexistent key: : missing value"],
    [
      { op: 'move', from: '/x', path: '/y' },
      "error in move for path: 'x': unable to get nonexistent key: x: missing value",
    ],
    [
      { op: 'move', from: '/x/y', path: '/y' },
      'move operation does not apply: doc is missing from path: /x/y: missing value',
    ],
    [
      { op: 'move', from: '/n', path: '/x/y' },
      'move operation does not apply: doc is missing destination path: /x/y: missing value',
    ],
    [
      { op: 'move', from: '/a', path: '/a/b/0' },
      'move operation does not apply: doc is missing destination path: /a/b/0: missing value',
    ],
    [{ op: 'move', from: '/n', path: '/a/b/9' }, `error in move for path: '/a/b/9': ${invalidIndex(9)}`],
    [{ op: 'move', from: '', path: '/y' }, 'unable to move entire document to another path: invalid state detected'],
    [
      { op: 'copy', from: '/x', path: '/y' },
      "error in copy for from: '/x': unable to get nonexistent key: x: missing value",
    ],
    [
      { op: 'copy', from: '/x/y', path: '/y' },
      'copy operation does not apply: doc is missing from path: "/x/y": missing value',
    ],
    [
      { op: 'copy', from: '/n', path: '/x/y' },
      'copy operation does not apply: doc is missing destination path: /x/y: missing value',
    ],
    [{ op: 'copy', from: '/n', path: '/a/b/7' }, `error while adding value during copy: ${invalidIndex(7)}`],
    [{ op: 'test', path: '/x', value: 1 }, 'testing value /x failed: test failed'],
    [{ op: 'test', path: '/x/y', value: null }, 'test operation does not apply: is missing path: /x/y: missing value'],
    [{ op: 'test', path: '/a/b/3', value: null }, `error in test for path: '/a/b/3': ${invalidIndex(3)}`],
    [{ op: 'test', path: '/n', value: '5' }, 'testing value /n failed: test failed'],
    [{ op: 'test', path: '/n' }, 'testing value /n failed: test failed'],
    [{ op: 'increment', path: '/n' } as unknown as PatchOperation, 'Unexpected kind: increment'],
  ])('%j cannot be applied', (operation, message) => {
    expect(() => applyOperations(before, [operation])).toThrow(new PatchError(message));
  });

  test('the key __proto__ is an ordinary key', () => {
    const patched = applyOperations({}, [{ op: 'add', path: '/__proto__', value: { polluted: true } }]) as JsonObject;
    expect(Object.keys(patched)).toEqual(['__proto__']);
    expect(patched.polluted).toBeUndefined();
  });

  test.each([100, 4_500])('values that %i moves nest in each other are an error, not a stack overflow', (count) => {
    const moves = Array.from({ length: count }, (_, index): PatchOperation[] => [
      { op: 'add', path: `/${index + 1}`, value: { x: [] } },
      { op: 'move', from: `/${index}`, path: `/${index + 1}/x/0` },
    ]).flat();
    const last: PatchOperation = { op: 'copy', from: `/${count}`, path: '/copy' };
    const apply = () => applyOperations({ 0: {} }, [...moves, last]);
    if (count === 100) {
      expect(Object.keys(apply() as object)).toEqual(['100', 'copy']);
    } else {
      expect(apply).toThrow(new PatchError('the patch makes the document nest deeper than 256 levels'));
    }
  });

  test('shift at most 200,000,000 items per patch', () => {
    const items: Json = Array(100_000).fill(0);
    const times = (count: number, operation: PatchOperation) => Array<PatchOperation>(count).fill(operation);
    const lengthAfter = (operations: PatchOperation[]) => (applyOperations(items, operations) as Json[]).length;
    const [toFront, toEnd] = ['/0', '/-'].map((path): PatchOperation => ({ op: 'add', path, value: 1 }));
    const tooMany = new PatchError('the patch moves more than 200000000 items of lists; replace a list as a whole');
    expect(lengthAfter(times(1_980, toFront as PatchOperation))).toBe(101_980);
    expect(() => lengthAfter(times(1_981, toFront as PatchOperation))).toThrow(tooMany);
    expect(() => lengthAfter(times(2_100, { op: 'remove', path: '/0' }))).toThrow(tooMany);
    expect(lengthAfter(times(2_100, toEnd as PatchOperation))).toBe(102_100);
    expect(lengthAfter(times(2_100, { op: 'remove', path: '/-1' }))).toBe(97_900);
  });

  test('copy at most 3 MiB per patch', () => {
    const text = 'x'.repeat(1024 * 1024 - 2);
    const copies = (count: number) =>
      Array.from({ length: count }, (_, index): PatchOperation => ({ op: 'copy', from: '/a', path: `/b${index}` }));
    expect(Object.keys(applyOperations({ a: text }, copies(3)) as object)).toHaveLength(4);
    expect(() => applyOperations({ a: text }, copies(4))).toThrow(
      'Unable to complete the copy, the accumulated size increase of copy is 4194304, exceeding the limit 3145728',
    );
  });
});

test.each<[Json, boolean]>([
  [{ op: 'add', path: '/a', value: 1 }, true],
  [{ op: 'remove', path: '' }, true],
  [{ op: 'move', path: '/a', from: '' }, true],
  [{ op: 'copy', path: '/a', from: '/b' }, true],
  [{ op: 'anything', path: '/a' }, true],
  [{ op: 'move', path: '/a' }, false],
  [{ op: 'copy', path: '/a', from: 'b' }, false],
  [{ op: 'add', path: 'a' }, false],
  [{ op: 'add' }, false],
  [{ op: 'add', path: 7 }, false],
  [{ op: 1, path: '/a' }, false],
  [{ path: '/a' }, false],
  [[], false],
  [null, false],
])('whether %j has the form of an operation: %j', (value, isOne) => {
  expect(isOperation(value)).toBe(isOne);
});

describe('a merge patch (the examples of RFC 7396, appendix A)', () => {
  test.each<[Json | undefined, patch: Json, result: Json]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [undefined, { a: { b: 1 } }, { a: { b: 1 } }],
    [{}, { toString: { a: 1 } }, { toString: { a: 1 } }],
  ])('%j with %j is %j', (target, patch, result) => {
    expect(applyMergePatch(target, patch)).toEqual(result);
  });

  test('shares nothing with the patch, and does not modify the target', () => {
    const target = { a: { b: 1 } };
    const patch = { a: { c: [1] } };
    const merged = applyMergePatch(target, patch) as { a: { c: number[] } };
    merged.a.c.push(2);
    expect([target, patch]).toEqual([{ a: { b: 1 } }, { a: { c: [1] } }]);
  });
});

test.each<[string, Json[], string | undefined]>([
  ['values of null', [{ op: 'add', path: '/x', value: null }], undefined],
  [
    'operations without values',
    [
      { op: 'remove', path: '/x' },
      { op: 'test', path: '/x' },
    ],
    undefined,
  ],
  [
    'an undefined that JSON.stringify left out',
    [
      { op: 'remove', path: '/y' },
      { op: 'add', path: '/x' },
    ],
    `invalid operation {"op":"add","path":"/x"}: failed to decode 'value': operation, missing value field: missing value`,
  ],
  [
    'nothing in place of a value',
    [{ op: 'replace', path: '/x' }],
    `invalid operation {"op":"replace","path":"/x"}: failed to decode 'value': operation, missing value field: missing value`,
  ],
  [
    'an unknown operation',
    [{ op: 'increment', path: '/x' }],
    'invalid operation {"op":"increment","path":"/x"}: unsupported operation',
  ],
  [
    'a long one',
    [{ op: 'x', path: `/${'y'.repeat(300)}` }],
    `invalid operation {"op":"x","path":"/${'y'.repeat(181)}: unsupported operation`,
  ],
])('what Cluster API decodes: %s', (_, operations, problem) => {
  expect(undecodable(operations)).toBe(problem);
});
