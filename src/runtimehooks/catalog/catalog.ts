import { clusterApiHooks } from './definitions.ts';
import { compareReleases, formatRelease, type Lifecycle, type Release, v1 } from './lifecycle.ts';

const runtimeGroup = 'runtime.cluster.x-k8s.io';

/** The first release of Cluster API with Runtime Hooks. */
export const oldestKnownRelease: Release = v1(2);

/** The newest release of Cluster API whose hooks this table has been compared with: 1.14 of July 2026. */
export const newestKnownRelease: Release = v1(14);

/** Why a release of Cluster API is not supported, and what to do; undefined if the table covers it. */
export function unknownReleaseProblem(release: Release): string | undefined {
  const [oldest, newest] = [oldestKnownRelease, newestKnownRelease].map(formatRelease);
  const remedy =
    compareReleases(release, newestKnownRelease) > 0
      ? `use ${newest}, or a newer version of this program`
      : compareReleases(release, oldestKnownRelease) < 0 && 'older ones have no Runtime Hooks';
  return remedy ? `known are the releases ${oldest} to ${newest}: ${remedy}` : undefined;
}

/** The lifecycles of Cluster API's hooks and of ExtensionConfig itself, from release notes and the Runtime SDK's documentation. */
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

/** The hooks and APIs that Cluster API publishes. @param more lifecycles, for examples of what no known hook has; one with the key of a known one replaces it. */
export function createHookCatalog(more: readonly Lifecycle[] = []) {
  const all = [...knownLifecycles, ...more].map((one) => [hookKey(one.group, one.version, one.name), one] as const);
  const byKey = new Map(all);
  return {
    find: (group: string, version: string, name: string): Lifecycle | undefined =>
      byKey.get(hookKey(group, version, name)),
    findIgnoringCase(group: string, version: string, name: string): Lifecycle | undefined {
      const wanted = hookKey(group, version, name).toLowerCase();
      return all.find(([key]) => key.toLowerCase() === wanted)?.[1];
    },
  };
}

export type HookCatalog = ReturnType<typeof createHookCatalog>;

/** The hooks and APIs that Cluster API publishes. */
export const hookCatalog = createHookCatalog();
