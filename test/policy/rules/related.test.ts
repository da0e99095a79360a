import { describe, expect, test } from 'vitest';
import type { ExtensionConfig } from '../../../src/extensionconfig/index.ts';
import type { LabelSelector } from '../../../src/kubernetes/index.ts';
import type { Facts, KnownCluster, KnownExtensionConfig } from '../../../src/policy/index.ts';
import {
  isComparable,
  overlapping,
  selectsNamespace,
  someClusters,
  someOf,
  someReferences,
} from '../../../src/policy/rules/related.ts';
import { factsOf } from './lines.ts';

test.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b', 'a'], 'a, b'],
  [['a', 'b', 'c'], 'a, b, c'],
  [['a', 'b', 'c', 'd'], 'a, b, c and 1 more'],
  [['a', 'b', 'c', 'd', 'e', 'a'], 'a, b, c and 2 more'],
])('%j in a message: %j', (names, text) => {
  expect(someOf(names)).toBe(text);
});

test('a class is named once, with the first place that refers to the handler', () => {
  const reference = (clusterClass: string, field: string) => ({ clusterClass, field, handler: 'h.x' });
  expect(
    someReferences([reference('x/a', 'f1'), reference('x/a', 'f2'), reference('x/b', 'f3'), reference('x/a', 'f4')]),
  ).toBe('ClusterClass x/a (f1), ClusterClass x/b (f3)');
});

/** Namespaces with the labels that a function says. */
const labelled = (get: (name: string) => Record<string, string> | undefined) => ({ get }) as Facts['namespaces'];
const facts = factsOf({
  namespaces: labelled((name) => (name === 'unknown' ? undefined : { team: name.charAt(0) })),
});
const teamA: LabelSelector = { matchLabels: { team: 'a' } };

test.each<[string, LabelSelector | undefined, string, boolean | undefined]>([
  ['no selector selects nothing', undefined, 'a1', false],
  ['an empty one selects everything', {}, 'unknown', true],
  ['labels that fit', teamA, 'a1', true],
  ['labels that do not', teamA, 'b1', false],
  ['labels that are not known', teamA, 'unknown', undefined],
])('a namespace: %s', (_, selector, namespace, selected) => {
  expect(selectsNamespace(selector, namespace, facts)).toBe(selected);
  expect(selectsNamespace(selector, namespace, factsOf({}))).toBe(selector === teamA ? undefined : selected);
});

describe('Clusters', () => {
  const clusters = (...keys: string[]) =>
    keys.map(
      (key): KnownCluster => ({ key, namespace: key.slice(0, key.indexOf('/')), clusterClass: undefined, pending: [] }),
    );
  test.each<[string, LabelSelector | undefined, KnownCluster[], string | undefined]>([
    ['none', {}, clusters(), undefined],
    ['none, of some namespaces', teamA, clusters(), undefined],
    ['all', {}, clusters('a1/x', 'b1/y', 'a1/z'), 'Cluster a1/x, Cluster b1/y, Cluster a1/z'],
    [
      'all of many',
      {},
      clusters('a/1', 'a/2', 'a/3', 'a/4', 'a/5'),
      'Cluster a/1, Cluster a/2, Cluster a/3 and 2 more',
    ],
    ['of some namespaces', teamA, clusters('b1/w', 'a1/x', 'b1/y', 'a2/z', 'unknown/v'), 'Cluster a1/x, Cluster a2/z'],
    [
      'many of some namespaces',
      teamA,
      clusters('a/1', 'b/0', 'a/2', 'a/3', 'a/4', 'b/1'),
      'Cluster a/1, Cluster a/2, Cluster a/3 and 1 more',
    ],
    ['none of these namespaces', teamA, clusters('b1/x'), undefined],
    ['without a selector', undefined, clusters('a1/x'), undefined],
  ])('%s', (_, selector, given, text) => {
    expect(someClusters(given, selector, facts)).toBe(text);
  });

  test('each namespace is looked up once, and none for an empty selector', () => {
    const asked: string[] = [];
    const counting = factsOf({
      namespaces: labelled((name) => {
        asked.push(name);
        return { team: name };
      }),
    });
    const many = clusters(...Array.from({ length: 100 }, (_, index) => `${index % 2 === 0 ? 'a' : 'b'}/${index}`));
    expect(someClusters(many, teamA, counting)).toBe('Cluster a/0, Cluster a/2, Cluster a/4 and 47 more');
    expect(asked).toEqual(['a', 'b']);
    someClusters(many, {}, counting);
    expect(asked).toHaveLength(2);
  });
});

describe('other ExtensionConfigs', () => {
  const other = (name: string, namespaceSelector: LabelSelector | undefined = {}): KnownExtensionConfig => ({
    name,
    namespaceSelector,
    address: undefined,
    secret: undefined,
    hooks: [],
  });
  const large = (values: number): LabelSelector => ({
    matchExpressions: [{ key: 'k', operator: 'NotIn', values: Array.from({ length: values }, (_, i) => `v${i}`) }],
  });
  const without = { ...other('x'), namespaceSelector: undefined };

  test.each<[string, KnownExtensionConfig[], LabelSelector | undefined, string[]]>([
    ['not itself', [other('self'), other('a')], {}, ['a']],
    ['those that may overlap', [other('a', teamA), other('b', { matchLabels: { team: 'b' } })], teamA, ['a']],
    ['not those without a selector', [without], {}, []],
    ['none without a selector of its own', [other('a')], undefined, []],
    ['selectors of 500 keys and values', [other('a', large(499))], {}, ['a']],
    ['not of more', [other('a', large(500))], {}, []],
    ['nor if it has more itself', [other('a')], large(500), []],
    [
      '20 of them',
      Array.from({ length: 25 }, (_, index) => other(`o${index}`)),
      {},
      Array.from({ length: 20 }, (_, index) => `o${index}`),
    ],
  ])('%s', (_, others, selector, names) => {
    const self = { metadata: { name: 'self' }, spec: { namespaceSelector: selector } } as ExtensionConfig;
    expect(overlapping(others, self)).toEqual(names);
  });

  test('selectors are compared up to 500 keys and values', () => {
    expect([large(499), large(500), undefined, {}].map(isComparable)).toEqual([true, false, false, true]);
  });
});
