import { describe, expect, test } from 'vitest';
import { decodeExtensionConfig } from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import type { Facts, HandlerReference } from '../../../src/policy/index.ts';
import { example } from './examples.ts';
import { factsOf, linesWith } from './lines.ts';

const excludes = (namespaces: string, classes: string) =>
  `spec.namespaceSelector Invalid -: now excludes ${namespaces}, which have Clusters of a ClusterClass that names the extension (${classes}): those Clusters fail; select these namespaces too`;

describe('an update that narrows the selector', () => {
  const id = 'namespace-selector-excludes';
  const never = () => {
    throw new Error('not needed');
  };
  const reference = (clusterClass: string): HandlerReference => ({
    clusterClass,
    field: 'f',
    handler: 'h.my-extension',
  });
  const situation = (namespaces: readonly string[], classes = ['clusters/quick-start']) =>
    factsOf({
      clusterClasses: new Map([['x/y', classes.map(reference)]]),
      clusters: new Map(
        namespaces.map((namespace, index) => {
          const cluster = { key: `${namespace}/${index}`, namespace, clusterClass: classes[0], pending: [] };
          return [cluster.key, cluster];
        }),
      ),
      namespaces: new Map(namespaces.map((namespace) => [namespace, { team: namespace.charAt(0) }])),
    });
  const selecting = (namespaceSelector: JsonObject) => example({ spec: { namespaceSelector } });
  const teamB = selecting({ matchLabels: { team: 'b' } });
  const from = (object: JsonObject) => ({ oldObject: decodeExtensionConfig(object, 'v1beta2').object });

  test('names the namespaces that it excludes, and the class', () => {
    const facts = situation(['a1', 'b1', 'a2', 'c1', 'a1'], ['x/one', 'x/two', 'x/one']);
    expect(linesWith(id, teamB, { facts, ...from(example()) })).toEqual([excludes('a1, a2, c1', 'x/one, x/two')]);
    const notA = selecting({ matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['a'] }] });
    expect(linesWith(id, teamB, { facts, ...from(notA) })).toEqual([excludes('c1', 'x/one, x/two')]);
  });

  test('ignores namespaces with Clusters of other classes only', () => {
    const facts = situation(['a1', 'a2']);
    const other = { key: 'a1/0', namespace: 'a1', clusterClass: 'clusters/other', pending: [] };
    const clusters = new Map([...(facts?.clusters ?? []), [other.key, other] as const]);
    expect(linesWith(id, teamB, { facts: { ...facts, clusters }, ...from(example()) })).toEqual([
      excludes('a2', 'clusters/quick-start'),
    ]);
  });

  test('is compared with 5,000 namespaces', () => {
    const many = Array.from({ length: 5000 }, (_, index) => `b${index}`);
    const linesOf = (namespaces: string[]) =>
      linesWith(id, teamB, { facts: situation(namespaces), ...from(example()) });
    expect(linesOf([...many.slice(1), 'a1'])).toEqual([excludes('a1', 'clusters/quick-start')]);
    expect(linesOf([...many, 'a1'])).toEqual([]);
  });

  test('of more than 500 keys and values is not compared', () => {
    const facts = situation(['a1']);
    const values = Array.from({ length: 500 }, (_, index) => `v${index}`);
    const requiring = (count: number) =>
      selecting({ matchExpressions: [{ key: 'team', operator: 'In', values: values.slice(0, count) }] });
    expect(linesWith(id, requiring(499), { facts, ...from(example()) })).toHaveLength(1);
    expect(linesWith(id, requiring(500), { facts, ...from(example()) })).toEqual([]);
    const excluding = (count: number) =>
      selecting({ matchExpressions: [{ key: 'team', operator: 'NotIn', values: values.slice(0, count) }] });
    expect(linesWith(id, teamB, { facts, ...from(excluding(499)) })).toHaveLength(1);
    expect(linesWith(id, teamB, { facts, ...from(excluding(500)) })).toEqual([]);
  });

  test('is ignored without looking at Clusters if nothing can be excluded', () => {
    const facts = situation(['b1']);
    expect(linesWith(id, teamB, { facts, ...from(example()) })).toEqual([]);
    const unread = { ...facts, clusters: { values: never } as unknown as Facts['clusters'] };
    expect(linesWith(id, selecting({}), { facts: unread, ...from(example()) })).toEqual([]);
  });

  test('is ignored while a part is unknown', () => {
    const all = situation(['a1']);
    for (const part of ['clusterClasses', 'clusters', 'namespaces'] as const) {
      expect(linesWith(id, teamB, { facts: { ...all, [part]: undefined }, ...from(example()) })).toEqual([]);
    }
    expect(linesWith(id, teamB, { facts: all })).toEqual([]);
  });
});
