import { clusterApiHooks } from './definitions.ts';
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
 * Runtime SDK documentation. That of a hook is its definition.
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

  ...clusterApiHooks,
];

const hookKey = (group: string, version: string, name: string) => `${group}/${version}/${name}`;

/**
 * A catalog of the hooks and APIs that Cluster API publishes.
 *
 * @param more lifecycles, for examples and tests of what no known hook has; one with the key of a known one replaces it.
 */
export function createHookCatalog(more: readonly Lifecycle[] = []) {
  const all = [...knownLifecycles, ...more].map((one) => [hookKey(one.group, one.version, one.name), one] as const);
  const byKey = new Map(all);
  return {
    /** The lifecycle of a hook (or kind) in one version, or undefined when the catalog does not have it. */
    find: (group: string, version: string, name: string): Lifecycle | undefined =>
      byKey.get(hookKey(group, version, name)),
    /** The known hook whose name differs from `name` only in case, or undefined. */
    findIgnoringCase(group: string, version: string, name: string): Lifecycle | undefined {
      const wanted = hookKey(group, version, name).toLowerCase();
      return all.find(([key]) => key.toLowerCase() === wanted)?.[1];
    },
  };
}

export type HookCatalog = ReturnType<typeof createHookCatalog>;

/** The hooks and APIs that Cluster API publishes. */
export const hookCatalog = createHookCatalog();
