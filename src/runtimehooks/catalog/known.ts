import { clusterApiHooks } from './definitions/definitions.ts';
import type { Lifecycle } from './lifecycle.ts';
import { compareReleases, formatRelease, type Release, v1 } from './release.ts';

const runtimeGroup = 'runtime.cluster.x-k8s.io';

/** The first release of Cluster API with Runtime Hooks. */
export const oldestKnownRelease: Release = v1(2);

/**
 * The newest release of Cluster API whose hooks this table has been compared with: 1.14 of July 2026. (1.13 and 1.14
 * added no hook and removed none.)
 */
export const newestKnownRelease: Release = v1(14);

/** Why a release of Cluster API is not supported, and what to do; undefined if the table covers it. */
export function unknownReleaseProblem(release: Release): string | undefined {
  const [oldest, newest] = [oldestKnownRelease, newestKnownRelease].map(formatRelease);
  if (compareReleases(release, newestKnownRelease) > 0) {
    return `known are the releases ${oldest} to ${newest}: use ${newest}, or a newer version of this program`;
  }
  if (compareReleases(release, oldestKnownRelease) < 0) {
    return `known are the releases ${oldest} to ${newest}: older ones have no Runtime Hooks`;
  }
  return undefined;
}

/**
 * The lifecycles of Cluster API's Runtime Hooks and of ExtensionConfig itself, from Cluster API's release notes and its
 * Runtime SDK documentation. The lifecycle of a hook is part of its definition.
 */
export const knownLifecycles: readonly Lifecycle[] = [
  {
    group: runtimeGroup,
    version: 'v1alpha1',
    name: 'ExtensionConfig',
    introduced: v1(2),
    deprecated: { release: v1(11), date: '2025-08' },
    replacedBy: { group: runtimeGroup, version: 'v1beta2', name: 'ExtensionConfig' },
  },
  { group: runtimeGroup, version: 'v1beta2', name: 'ExtensionConfig', introduced: v1(11) },

  ...clusterApiHooks.map(({ lifecycle }) => lifecycle),
];
