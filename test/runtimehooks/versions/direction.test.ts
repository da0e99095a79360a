import { describe, expect, test } from 'vitest';
import type { Schema } from '../../../src/kubernetes/schema/index.ts';
import type { ChangeTable } from '../../../src/runtimehooks/versions/change-table.ts';
import { compilePlans, UnlistedDifferenceError } from '../../../src/runtimehooks/versions/engine.ts';
import type { PropertyAction, ValuePlan } from '../../../src/runtimehooks/versions/plan.ts';

const text: Schema = { type: 'string' };
const short: Schema = { type: 'string', maxLength: 5 };
const number: Schema = { type: 'integer' };
const object = (properties: Record<string, Schema>, required?: string[]): Schema => ({
  type: 'object',
  properties,
  ...(required && { required }),
});
const list = (items: Schema): Schema => ({ type: 'array', items });
const map = (additionalProperties: Schema): Schema => ({ type: 'object', additionalProperties });

type Fields = Record<string, Schema> | Schema;
const isSchema = (fields: Fields): fields is Schema => typeof fields.type === 'string';
const version = (name: string, fields: Fields) => ({
  apiVersion: name,
  schema: isSchema(fields) ? fields : object(fields),
});
const compile = (older: Fields, newer: Fields, table: ChangeTable = {}) =>
  compilePlans(version('v1', older), version('v2', newer), table);

/** The errors of a table, one per line; empty if it lists all differences. */
function problemsOf(older: Fields, newer: Fields, table: ChangeTable = {}): string[] {
  try {
    compile(older, newer, table);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(UnlistedDifferenceError);
    const [first, ...lines] = (error as Error).message.split('\n- ');
    expect(first).toBe('v1 and v2 differ in ways that the table does not list:');
    return lines;
  }
}

type Case = [name: string, older: Fields, newer: Fields, table: ChangeTable, problems: string[]];

const anything: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const either: Schema = { 'x-kubernetes-int-or-string': true };
const others: Schema = { type: 'object', additionalProperties: true };

describe('a type that changes is not converted automatically', () => {
  test.each<Case>([
    ['string and integer', { a: text }, { a: number }, {}, ['string', 'integer']],
    ['integer or string', { a: either }, { a: text }, {}, ['integer or string', 'string']],
    ['anything', { a: {} }, { a: text }, {}, ['anything', 'string']],
    ['an object of anything', { a: anything }, { a: object({}) }, {}, ['anything', 'object']],
    ['a map and an object', { a: map(text) }, { a: object({}) }, {}, ['map', 'object']],
    ['a map and an object with other fields', { a: map(text) }, { a: others }, {}, ['map', 'object']],
    ['a list and a map', { a: list(text) }, { a: map(text) }, {}, ['array', 'map']],
  ])('%s', (_name, older, newer, table, [a, b]) => {
    expect(problemsOf(older, newer, table)).toEqual([`a: ${a} in v1, ${b} in v2 (a)`, `a: ${b} in v2, ${a} in v1 (a)`]);
    expect(problemsOf(older, newer, { byHand: { older: ['a'], newer: ['a'] } })).toEqual([]);
  });

  test.each<[string, Schema]>([
    ['integers or strings', either],
    ['anything', {}],
    ['objects of anything', anything],
    ['objects with other fields', others],
    ['a list of anything', { type: 'array' }],
    ['maps', map(text)],
  ])('%s are copied unchanged', (_name, schema) => {
    const { toNewer, toOlder } = compile({ a: schema }, { a: schema });
    expect([toNewer, toOlder]).toEqual([undefined, undefined]);
  });

  test('a list whose items only one version describes is copied', () => {
    const { toNewer, toOlder } = compile({ a: { type: 'array' } }, { a: list(object({ b: text })) });
    expect([toNewer, toOlder]).toEqual([undefined, undefined]);
  });

  test('in a list and in a map', () => {
    expect(problemsOf({ a: list(text) }, { a: list(number) })).toContain('a[]: string in v1, integer in v2 (a[])');
    expect(problemsOf({ a: map(text) }, { a: map(number) })).toContain('a{}: string in v1, integer in v2 (a{})');
  });
});

describe('fields that one version has', () => {
  const nested = { a: object({ b: text, c: text, d: object({ e: text, f: text }) }) };
  test.each<Case>([
    ['a new field', {}, { a: text }, {}, ['a: only v2 has it']],
    ['a removed field', { a: text }, {}, {}, ['a: only v1 has it']],
    ['listed as added', {}, { a: text }, { added: ['a'] }, []],
    ['listed as removed', { a: text }, {}, { removed: ['a'] }, []],
    [
      'listed the other way round',
      { a: text },
      {},
      { added: ['a'] },
      ['a: only v1 has it', 'only a: listed, but matches nothing'],
    ],
    ['converted by hand', { a: text }, {}, { byHand: { older: ['a'] } }, []],
    ['converted by hand to a new one', {}, { a: text }, { byHand: { newer: ['a'] } }, []],
    ['listed, but in both', { a: text }, { a: text }, { removed: ['a'] }, ['a: only v2 has it']],
    ['listed on both sides', { a: text }, { a: text }, { removed: ['a'], added: ['a'] }, []],
    [
      'in items',
      { a: list(object({ k: text, b: text })) },
      { a: list(object({ k: text })) },
      {},
      ['a[].b: only v1 has it'],
    ],
    [
      'in items, listed',
      { a: list(object({ k: text, b: text })) },
      { a: list(object({ k: text })) },
      { removed: ['a[].b'] },
      [],
    ],
    ['in map values', { a: map(object({ b: text })) }, { a: map(object({})) }, {}, ['a{}.b: only v1 has it']],
    [
      'an object of which a field moves, and the rest is not listed',
      nested,
      { x: text },
      { moves: { 'a.b': 'x' } },
      ['a.c: only v1 has it', 'a.d: only v1 has it'],
    ],
    ['the same, with the rest listed', nested, { x: text }, { moves: { 'a.b': 'x' }, removed: ['a.c', 'a.d'] }, []],
    ['the same, listed as a whole', nested, { x: text }, { moves: { 'a.b': 'x' }, removed: ['a'] }, []],
    [
      'the same, with a field converted by hand',
      nested,
      { x: text },
      { moves: { 'a.b': 'x' }, removed: ['a.d'], byHand: { older: ['a.c'] } },
      [],
    ],
    [
      'a field that moves from further below',
      nested,
      { x: text },
      { moves: { 'a.d.e': 'x' }, removed: ['a.b', 'a.c'] },
      ['a.d.f: only v1 has it'],
    ],
    [
      'the same, with the rest listed above',
      nested,
      { x: text },
      { moves: { 'a.d.e': 'x' }, removed: ['a.b', 'a.c', 'a.d'] },
      [],
    ],
    [
      'a field whose name is a prefix of one that moves',
      { ab: text, a: text },
      { x: text },
      { moves: { ab: 'x' } },
      ['a: only v1 has it'],
    ],
    ['of the version and kind', { apiVersion: text, kind: text }, { apiVersion: number, kind: number }, {}, []],
    ['of these names further below', { a: object({ kind: text }) }, { a: object({}) }, {}, ['a.kind: only v1 has it']],
  ])('%s', (_name, older, newer, table, problems) => {
    expect(problemsOf(older, newer, table)).toEqual(problems);
  });
});

describe('fields that change their name or place', () => {
  test.each<Case>([
    ['by its case', { aURL: text }, { aUrl: text }, {}, []],
    ['by its case, below', { a: object({ URL: text }) }, { a: object({ url: text }) }, {}, []],
    ['by more than that', { url: text }, { urls: text }, {}, ['url: only v1 has it', 'urls: only v2 has it']],
    [
      'not by its case, where the name is there too',
      { URL: text, url: text },
      { url: text },
      {},
      ['URL: only v1 has it'],
    ],
    [
      'not by its case, where the name is that of another',
      { URL: text },
      { url: text, URL: text },
      {},
      ['url: only v2 has it'],
    ],
    [
      'not by its case, where another moves there',
      { URL: text, b: text },
      { url: text },
      { moves: { b: 'url' } },
      ['URL: only v1 has it'],
    ],
    ['not by its case, where it is new', { URL: text }, { url: text }, { added: ['url'] }, ['URL: only v1 has it']],
    [
      'not by its case, where it is written by hand',
      { URL: text },
      { url: text },
      { byHand: { newer: ['url'] } },
      ['URL: only v1 has it'],
    ],
    ['listed', { a: text }, { b: text }, { moves: { a: 'b' } }, []],
    [
      'to another object',
      { a: object({ b: text }) },
      { a: object({}), c: object({ d: text }) },
      { moves: { 'a.b': 'c.d' } },
      [],
    ],
    [
      'to a missing field',
      { a: text },
      {},
      { moves: { a: 'b' } },
      ['a: moves to b, which v2 does not have', 'moves b a: listed, but matches nothing'],
    ],
    [
      'from a missing field',
      {},
      { b: text },
      { moves: { a: 'b' } },
      ['b: moves to a, which v1 does not have', 'moves a b: listed, but matches nothing'],
    ],
    [
      'within an item',
      { a: list(object({ k: text, b: text })) },
      { a: list(object({ k: text, c: object({ d: text }) })) },
      { moves: { 'a[].b': 'a[].c.d' } },
      [],
    ],
    [
      'out of an item',
      { a: list(object({ b: text })) },
      { a: list(object({})), c: text },
      { moves: { 'a[].b': 'c' } },
      [
        'a[].b: moves to c, outside its list or in another one; only a hand-written step can do that',
        'c: moves to a[].b, outside its list or in another one; only a hand-written step can do that',
      ],
    ],
    [
      'into the values of a map',
      { b: text },
      { a: map(object({ b: text })) },
      { moves: { b: 'a{}.b' } },
      [
        'b: moves to a{}.b, outside its list or in another one; only a hand-written step can do that',
        'moves a{}.b b: listed, but matches nothing',
      ],
    ],
    [
      'two to one place',
      { a: text, b: text },
      { c: text },
      { moves: { a: 'c', b: 'c' } },
      ['two moves have the same target', 'moves c a: listed, but matches nothing'],
    ],
    [
      'with a type that changes',
      { a: text },
      { b: number },
      { moves: { a: 'b' } },
      ['a: string in v1, integer in v2 (b)', 'b: integer in v2, string in v1 (a)'],
    ],
    [
      'with tighter limits',
      { a: text },
      { b: short },
      { moves: { a: 'b' } },
      ['a: v2 limits maxLength where v1 does not'],
    ],
  ])('%s', (_name, older, newer, table, problems) => {
    expect(problemsOf(older, newer, table)).toEqual(problems);
  });
});

describe('limits that one version has', () => {
  const dated: Schema = { type: 'string', format: 'date-time', maxLength: 5 };
  const onlyProperties = (path: string, keywords: string) =>
    `${path}: only a property can be dropped, and not for ${keywords}`;
  test.each<Case>([
    ['new ones', { a: text }, { a: short }, {}, ['a: v2 limits maxLength where v1 does not']],
    ['removed ones', { a: short }, { a: text }, {}, ['a: v1 limits maxLength where v2 does not']],
    [
      'several',
      { a: text },
      { a: { ...short, pattern: 'x' } },
      {},
      ['a: v2 limits maxLength, pattern where v1 does not'],
    ],
    ['passed', { a: text }, { a: short }, { tighter: { a: 'pass' } }, []],
    ['dropped', { a: text }, { a: short }, { tighter: { a: 'drop' } }, []],
    [
      'listed by the name in the newer version',
      { a: text },
      { b: short },
      { moves: { a: 'b' }, tighter: { b: 'drop' } },
      [],
    ],
    [
      'listed by the name in the older version',
      { a: short },
      { b: text },
      { moves: { a: 'b' }, tighter: { a: 'pass' } },
      [],
    ],
    [
      'listed, but absent',
      { a: text },
      { a: text },
      { tighter: { a: 'drop' } },
      ['tighter a: listed, but matches nothing'],
    ],
    [
      'that cannot be checked',
      { a: text },
      { a: dated },
      { tighter: { a: 'drop' } },
      [onlyProperties('a', 'maxLength, format')],
    ],
    ['that cannot be checked, passed', { a: text }, { a: dated }, { tighter: { a: 'pass' } }, []],
    ['of items', { a: list(text) }, { a: list(short) }, {}, ['a[]: v2 limits maxLength where v1 does not']],
    ['of items, passed', { a: list(text) }, { a: list(short) }, { tighter: { 'a[]': 'pass' } }, []],
    [
      'of items, which cannot be dropped',
      { a: list(text) },
      { a: list(short) },
      { tighter: { 'a[]': 'drop' } },
      [onlyProperties('a[]', 'maxLength')],
    ],
    ['of map values', { a: map(text) }, { a: map(short) }, {}, ['a{}: v2 limits maxLength where v1 does not']],
    [
      'of map values, which cannot be dropped',
      { a: map(text) },
      { a: map(short) },
      { tighter: { 'a{}': 'drop' } },
      [onlyProperties('a{}', 'maxLength')],
    ],
  ])('%s', (_name, older, newer, table, problems) => {
    expect(problemsOf(older, newer, table)).toEqual(problems);
  });
});

describe('fields that one version requires', () => {
  const a = (required?: string[]) => object({ a: text }, required);
  test.each<Case>([
    ['in both', a(['a']), a(['a']), {}, []],
    ['in the newer one', a(), a(['a']), {}, ['a: required in v2, not in v1']],
    ['in the older one', a(['a']), a(), {}, ['a: required in v1, not in v2']],
    ['passed', a(), a(['a']), { tighter: { a: 'pass' } }, []],
    ['not to be dropped', a(), a(['a']), { tighter: { a: 'drop' } }, ['a: required in v2, not in v1']],
    ['written by hand', a(), a(['a']), { byHand: { older: ['a'], newer: ['a'] } }, []],
    ['below', { b: a() }, { b: a(['a']) }, {}, ['b.a: required in v2, not in v1']],
    ['below, passed', { b: a() }, { b: a(['a']) }, { tighter: { 'b.a': 'pass' } }, []],
    ['by another case', object({ URL: text }, ['URL']), object({ url: text }, ['url']), {}, []],
    [
      'by another case, not before',
      object({ URL: text }),
      object({ url: text }, ['url']),
      {},
      ['url: required in v2, not in v1'],
    ],
    ['by another name', a(['a']), object({ b: text }, ['b']), { moves: { a: 'b' } }, []],
    [
      'by another name, not before',
      a(),
      object({ b: text }, ['b']),
      { moves: { a: 'b' } },
      ['b: required in v2, not in v1'],
    ],
    [
      'by another name, passed by the old one',
      a(),
      object({ b: text }, ['b']),
      { moves: { a: 'b' }, tighter: { a: 'pass' } },
      [],
    ],
    [
      'by another name, passed by the new one',
      a(),
      object({ b: text }, ['b']),
      { moves: { a: 'b' }, tighter: { b: 'pass' } },
      [],
    ],
    ['in items', { l: list(a()) }, { l: list(a(['a'])) }, {}, ['l[].a: required in v2, not in v1']],
  ])('%s', (_name, older, newer, table, problems) => {
    expect(problemsOf(older, newer, table)).toEqual(problems);
  });
});

test('entries that match nothing are reported, each with its list', () => {
  const table: ChangeTable = {
    removed: ['r'],
    added: ['s'],
    byHand: { older: ['o'], newer: ['n'] },
    tighter: { t: 'pass' },
  };
  expect(problemsOf({ a: text }, { a: text }, table)).toEqual(
    ['only r', 'only s', 'byHand o', 'byHand n', 'tighter t'].map((entry) => `${entry}: listed, but matches nothing`),
  );
});

describe('plans', () => {
  /** A plan as plain data. */
  const plain = (plan: ValuePlan | undefined): unknown => {
    if (plan === undefined) {
      return undefined;
    }
    switch (plan.kind) {
      case 'list':
        return { list: plain(plan.item) };
      case 'map':
        return { map: plain(plan.value) };
      default:
        return actions(plan.actions);
    }
  };
  const actions = (all: ReadonlyMap<string, PropertyAction>): object =>
    Object.fromEntries(
      [...all].map(([name, action]) => {
        switch (action.do) {
          case 'set':
            return [name, { set: action.name, plan: plain(action.plan), limits: action.limits }];
          case 'move':
            return [name, { move: action.to, plan: plain(action.plan), limits: action.limits }];
          case 'drop':
            return [name, { drop: actions(action.below) }];
          default:
            return [name, action.do];
        }
      }),
    );
  const none = { plan: undefined, limits: undefined };

  test('what needs no action has none', () => {
    const { toNewer, toOlder } = compile(
      { a: text, b: object({ c: list(text) }), d: map(number) },
      { a: text, b: object({ c: list(text) }), d: map(number) },
    );
    expect([toNewer, toOlder]).toEqual([undefined, undefined]);
  });

  test('names, limits, lists and maps', () => {
    const { toNewer, toOlder } = compile(
      { a: object({ URL: text }), l: list(object({ k: text, b: text })), m: map(object({ x: text })) },
      { a: object({ url: short }), l: list(object({ k: text, c: text })), m: map(object({ X: text })) },
      { moves: { 'l[].b': 'l[].c' }, tighter: { 'a.URL': 'drop' } },
    );
    expect(plain(toNewer)).toEqual({
      a: { set: 'a', plan: { URL: { set: 'url', plan: undefined, limits: short } }, limits: undefined },
      l: { set: 'l', plan: { list: { b: { move: ['c'], ...none } } }, limits: undefined },
      m: { set: 'm', plan: { map: { x: { set: 'X', ...none } } }, limits: undefined },
    });
    expect(plain(toOlder)).toEqual({
      a: { set: 'a', plan: { url: { set: 'URL', ...none } }, limits: undefined },
      l: { set: 'l', plan: { list: { c: { move: ['b'], ...none } } }, limits: undefined },
      m: { set: 'm', plan: { map: { X: { set: 'x', ...none } } }, limits: undefined },
    });
  });

  test('for moves, with nested fields and the remaining ones', () => {
    const inner = object({ URL: text });
    const { toNewer, toOlder } = compile(
      { a: object({ b: inner, c: text, d: object({ e: text, f: text }), g: text }), h: text },
      { x: object({ y: object({ url: text }), z: short }), i: number },
      {
        moves: { 'a.b': 'x.y', 'a.d.e': 'x.z' },
        removed: ['a.c', 'a.d', 'h'],
        added: ['i'],
        byHand: { older: ['a.g'] },
        tighter: { 'a.d.e': 'drop' },
      },
    );
    expect(plain(toNewer)).toEqual({
      a: {
        drop: {
          b: { move: ['x', 'y'], plan: { URL: { set: 'url', ...none } }, limits: undefined },
          d: { drop: { e: { move: ['x', 'z'], plan: undefined, limits: short } } },
          g: 'skip',
        },
      },
      h: { drop: {} },
    });
    expect(plain(toOlder)).toEqual({
      x: {
        drop: {
          y: { move: ['a', 'b'], plan: { url: { set: 'URL', ...none } }, limits: undefined },
          z: { move: ['a', 'd', 'e'], ...none },
        },
      },
      i: { drop: {} },
    });
  });
});
