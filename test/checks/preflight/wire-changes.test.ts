import { expect, test } from 'vitest';
import { wireChangesBetween } from '../../../src/checks/preflight/wire-changes.ts';
import { olderVersionsOf } from '../../../src/checks/preflight/written-as.ts';
import {
  clusterApiHooks,
  compareReleases,
  newestKnownRelease,
  oldestKnownRelease,
} from '../../../src/runtimehooks/index.ts';

const all = new Set(clusterApiHooks.map(({ name }) => name));
const v1 = (minor: number) => ({ major: 1, minor });

test('changes are in order, between known releases, each once', () => {
  const changes = wireChangesBetween(oldestKnownRelease, newestKnownRelease, all);
  expect(changes.length).toBeGreaterThan(8);
  expect(new Set(changes.map(({ text }) => text)).size).toBe(changes.length);
  for (const [index, { release }] of changes.entries()) {
    expect(compareReleases(release, changes[index - 1]?.release ?? oldestKnownRelease)).toBeGreaterThanOrEqual(0);
  }
});

test.each<[string, number, number, string[], number[]]>([
  ['1.13 and 1.14 for a lifecycle hook', 12, 14, ['BeforeClusterCreate'], [13, 14, 14, 14]],
  ['the current release is not a change', 13, 14, ['BeforeClusterCreate'], [14, 14, 14]],
  ['patches of metadata in 1.14', 13, 14, ['GeneratePatches'], [14, 14, 14, 14]],
  ['builtin variables of 1.13 for topology mutation', 12, 13, ['GeneratePatches'], [13]],
  ['and for validation', 12, 13, ['ValidateTopology'], [13]],
  ['changes of other hooks are left out', 12, 13, ['GenerateUpgradePlan'], []],
  ['changes from before a lifecycle hook came are left out', 10, 12, ['BeforeControlPlaneUpgrade'], []],
  ['an upgrade within a release', 14, 14, ['BeforeClusterCreate'], []],
  ['a downgrade', 14, 12, ['BeforeClusterCreate'], []],
])('%s', (_name, from, to, hooks, releases) => {
  expect(wireChangesBetween(v1(from), v1(to), new Set(hooks)).map(({ release }) => release.minor)).toEqual(releases);
});

const old = 'runtime.cluster.x-k8s.io/v1alpha1';

test.each<[string, object, boolean, object[]]>([
  ['a manifest', { apiVersion: old }, false, [{ apiVersion: old, by: 'the manifest' }]],
  ['a manifest of today', { apiVersion: 'runtime.cluster.x-k8s.io/v1beta2' }, false, []],
  ['the version that the API server was asked for', { apiVersion: old }, true, []],
  [
    'managers, but not of the status',
    {
      metadata: {
        managedFields: [
          { manager: 'flux', apiVersion: old },
          { manager: 'capi', apiVersion: `${old}x`, subresource: 'status' },
          5,
        ],
      },
    },
    true,
    [{ apiVersion: old, by: 'flux' }],
  ],
  [
    'an annotation that is not JSON',
    { metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{' } } },
    true,
    [],
  ],
  ['another group', { metadata: { managedFields: [{ manager: 'a', apiVersion: 'apps/v1' }] } }, true, []],
])('finds who writes an older version: %s', (_name, object, isFromCluster, expected) => {
  expect(olderVersionsOf(object as never, isFromCluster)).toEqual(expected);
});
