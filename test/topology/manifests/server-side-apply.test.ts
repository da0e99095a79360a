import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { layered } from '../../../src/topology/index.ts';

const leaf: JsonObject = {};
const apiVersion = 'cluster.x-k8s.io/v1beta2';

/** What a manager wrote, with the fields below `spec` as fieldsV1 has them. */
const entry = (manager: string, spec: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...{ manager, operation: 'Apply', apiVersion, fieldsV1: { 'f:spec': spec }, time: '2026-01-01T00:00:00Z' },
  ...more,
});

const live = (spec: JsonObject, ...managedFields: JsonObject[]): JsonObject => ({
  ...{ apiVersion, kind: 'ClusterClass', metadata: { name: 'k', namespace: 'default', uid: '1', managedFields }, spec },
});
const manifest = (spec: JsonObject): JsonObject => ({
  ...{ apiVersion, kind: 'ClusterClass', metadata: { name: 'k', namespace: 'default' }, spec },
});
const named = (...names: string[]) => names.map((name) => ({ name }));
const listOf = (...names: string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [`k:{"name":"${name}"}`, { '.': leaf, 'f:name': leaf }]));

describe('what was applied on the server side: a manifest means what its writer means', () => {
  test.each<[what: string, before: JsonObject, wanted: JsonObject, after: JsonObject]>([
    [
      'a field that its owner no longer gives goes away',
      live({ a: 1, b: 2 }, entry('flux', { 'f:a': leaf, 'f:b': leaf })),
      { a: 3 },
      { a: 3 },
    ],
    [
      'a field of somebody else stays',
      live({ a: 1, b: 2 }, entry('flux', { 'f:a': leaf }), entry('capi-x', { 'f:b': leaf }, { operation: 'Update' })),
      { a: 3 },
      { a: 3, b: 2 },
    ],
    [
      'a field that both own stays',
      live(
        { a: 1, b: 2 },
        entry('flux', { 'f:a': leaf, 'f:b': leaf }),
        entry('x', { 'f:b': leaf }, { operation: 'Update' }),
      ),
      { a: 1 },
      { a: 1, b: 2 },
    ],
    [
      'a whole object',
      live({ a: { b: 1, c: { d: 2 } } }, entry('flux', { 'f:a': { 'f:b': leaf, 'f:c': { 'f:d': leaf } } })),
      {},
      {},
    ],
    [
      'an object in which others have a field',
      live(
        { a: { b: 1, c: 2 } },
        entry('flux', { 'f:a': { 'f:b': leaf } }),
        entry('x', { 'f:a': { 'f:c': leaf } }, { operation: 'Update' }),
      ),
      {},
      { a: { c: 2 } },
    ],
    [
      'items of a list that is a map, by their keys',
      live({ patches: named('one', 'two') }, entry('flux', { 'f:patches': listOf('one', 'two') })),
      { patches: [{ name: 'two', enabledIf: 'x' }, { name: 'three' }] },
      { patches: [{ name: 'two', enabledIf: 'x' }, { name: 'three' }] },
    ],
    [
      'items of others stay',
      live(
        { variables: named('mine', 'theirs') },
        entry('flux', { 'f:variables': listOf('mine') }),
        entry('x', { 'f:variables': listOf('theirs') }, { operation: 'Update' }),
      ),
      { variables: [] },
      { variables: named('theirs') },
    ],
    [
      'items in the order given; others keep their place between these',
      live(
        { variables: named('a', 'x', 'b', 'c') },
        entry('flux', { 'f:variables': listOf('a', 'b', 'c') }),
        entry('x', { 'f:variables': listOf('x') }, { operation: 'Update' }),
      ),
      { variables: named('c', 'new', 'a') },
      { variables: named('x', 'c', 'new', 'a') },
    ],
    [
      'items that a webhook set, and nobody wrote',
      live({ variables: [{ name: 'a', value: 'default' }] }, entry('flux', { 'f:other': leaf })),
      { variables: [{ name: 'b', value: 1 }] },
      {
        variables: [
          { name: 'a', value: 'default' },
          { name: 'b', value: 1 },
        ],
      },
    ],
    [
      'an object that is one value',
      live({ selector: { matchLabels: { a: '1', b: '2' } } }, entry('flux', { 'f:selector': leaf })),
      { selector: { matchLabels: { a: '1' } } },
      { selector: { matchLabels: { a: '1' } } },
    ],
    [
      'an object that one applied empty, and another one filled',
      live(
        { a: { b: 1 } },
        entry('flux', { 'f:a': leaf }),
        entry('x', { 'f:a': { 'f:b': leaf } }, { operation: 'Update' }),
      ),
      { a: {} },
      { a: { b: 1 } },
    ],
    ['all items of a list', live({ patches: named('one') }, entry('flux', { 'f:patches': listOf('one') })), {}, {}],
    [
      'a list that is one value',
      live({ list: [1, 2] }, entry('flux', { 'f:list': leaf })),
      { list: [3] },
      { list: [3] },
    ],
  ])('%s', (_, before, wanted, after) => {
    expect(layered([before], [manifest(wanted)])[0]?.spec).toEqual(after);
  });

  test('who applied last is the owner, unless another one is named; controllers are not', () => {
    const before = live(
      { a: 1, b: 2, c: 3 },
      entry('old', { 'f:a': leaf }),
      entry('new', { 'f:b': leaf }, { time: '2026-02-01T00:00:00Z' }),
      entry('capi-topology', { 'f:c': leaf }, { time: '2026-03-01T00:00:00Z' }),
    );
    expect(layered([before], [manifest({})])[0]?.spec).toEqual({ a: 1, c: 3 });
    expect(layered([before], [manifest({})], { fieldManager: 'old' })[0]?.spec).toEqual({ b: 2, c: 3 });
  });

  test('several users who apply an object are told, newest first; an apply that changed no value has no time', () => {
    const { time: _, ...timeless } = entry('kubectl', { 'f:a': leaf });
    const before = live({ a: 1 }, timeless, entry('flux', { 'f:a': leaf }), entry('capi-topology', { 'f:b': leaf }));
    const told: string[][] = [];
    const onSeveral = (_object: JsonObject, managers: readonly string[]) => told.push([...managers]);
    layered([before], [manifest({ a: 1 })], { onSeveral });
    layered([before], [manifest({ a: 1 })], { onSeveral, fieldManager: 'flux' });
    expect(told).toEqual([['flux', 'kubectl']]);
  });

  test('who applies for the first time takes nothing away', () => {
    const before = live({ list: named('a'), b: 2 }, entry('flux', { 'f:list': listOf('a'), 'f:b': leaf }));
    const after = layered([before], [manifest({ list: named('b') })], { fieldManager: 'argocd-controller' });
    expect(after[0]?.spec).toEqual({ list: named('a', 'b'), b: 2 });
  });

  test('where nothing says who wrote a field, it stays, and that is told', () => {
    const kept: string[] = [];
    const onKept = (_object: JsonObject, fields: readonly string[]) => kept.push(...fields);
    expect(layered([live({ a: 1, patches: [] })], [manifest({ a: 1 })], { onKept })[0]?.spec).toEqual({
      a: 1,
      patches: [],
    });
    expect(kept).toEqual(['patches']);
  });

  test('a key that is no JSON is no list', () => {
    const before = live({ list: named('a') }, entry('flux', { 'f:list': { 'k:{': leaf } }));
    expect(layered([before], [manifest({ list: [] })])[0]?.spec).toEqual({ list: [] });
  });
});
