import { expect, test } from 'vitest';
import { limitWork } from '../../support/work.ts';
import { exampleReports } from './example-reports.ts';
import { example, exampleCluster, exampleHandler, exampleNamespace } from './examples.ts';

const capi = 'hooks.runtime.cluster.x-k8s.io/v1alpha1';

test('comparing ends quickly, however large the selectors of others are, and however many handlers an object has', () => {
  const requestHook = { apiVersion: capi, hook: 'CanUpdateMachine' };
  const matchExpressions = Array.from({ length: 4000 }, (_, index) => ({ key: `k${index}`, operator: 'Exists' }));
  const context = Array.from({ length: 20 }, (_, index) =>
    example({
      name: `other-${index}`,
      spec: { namespaceSelector: { matchExpressions } },
      handlers: [exampleHandler({ name: `h.other-${index}`, requestHook })],
    }),
  );
  const handlers = Array.from({ length: 200 }, (_, index) =>
    exampleHandler({ name: `h${index}.my-extension`, requestHook }),
  );
  const object = example({ handlers });
  // It was 9 s.
  using _work = limitWork(2_500);
  const reports = exampleReports('in-place-hook-twice', object, { subject: 'status', context });
  expect(reports.map(({ rule }) => rule.id)).not.toContain('in-place-hook-twice');
});

test('a deletion that a whole cluster waits for is denied with the number of Clusters', () => {
  const context = Array.from({ length: 2_000 }, (_, index) =>
    exampleCluster({ 'runtime.cluster.x-k8s.io/pending-hooks': 'AfterClusterUpgrade' }, `c-${index}`),
  );
  const requestHook = { apiVersion: capi, hook: 'AfterClusterUpgrade' };
  for (const namespaceSelector of [{}, { matchLabels: { 'kubernetes.io/metadata.name': 'clusters' } }]) {
    const object = example({ handler: { requestHook }, spec: { namespaceSelector } });
    const reports = exampleReports('deletion-awaited-by-cluster', object, {
      subject: 'deletion',
      context: [exampleNamespace, ...context],
    });
    expect(reports.map(({ message }) => message)).toEqual([
      expect.stringContaining('for Cluster clusters/c-0, Cluster clusters/c-1, Cluster clusters/c-2 and 1997 more;'),
    ]);
  }
});

test.each([
  ['ghp_a', true],
  ['eyJa.eyJa.a', true],
  ['eyJa.eyJa.', false],
  ['eyJa', false],
  ['http://a:a', false],
  ['-----BEGIN A', false],
])('a setting of the maximum length that begins with %s does not delay checks', (start, isCredential) => {
  // An expression throws if it has to keep too many positions to backtrack to.
  const value = start.padEnd(7 * 1024 * 1024, start.at(-1));
  const reports = exampleReports('settings-credentials', example({ spec: { settings: { value } } }));
  expect(reports.map(({ rule }) => rule.id).includes('settings-credentials')).toBe(isCredential);
});
