import type { Lifecycle } from './lifecycle.ts';
import { compareReleases, formatRelease, type Release } from './release.ts';

const v1 = (minor: number): Release => ({ major: 1, minor });

const hooksGroup = 'hooks.runtime.cluster.x-k8s.io';
const runtimeGroup = 'runtime.cluster.x-k8s.io';

/** The first release of Cluster API with Runtime Hooks. */
export const oldestKnownRelease: Release = v1(2);

/**
 * The newest release of Cluster API whose hooks this table has been compared with: 1.14 of July 2026. (1.13 and 1.14
 * brought no new hook and removed none.)
 */
export const newestKnownRelease: Release = v1(14);

/** Why nothing can be said about a release of Cluster API, and what to do; undefined for one that the table speaks of. */
export function unknownReleaseProblem(release: Release): string | undefined {
  const [oldest, newest] = [oldestKnownRelease, newestKnownRelease].map(formatRelease);
  if (compareReleases(release, newestKnownRelease) > 0) {
    return `known are the releases ${oldest} to ${newest}: take ${newest}, or a newer version of this program`;
  }
  if (compareReleases(release, oldestKnownRelease) < 0) {
    return `known are the releases ${oldest} to ${newest}: older ones have no Runtime Hooks`;
  }
  return undefined;
}

/** A hook of Cluster API in its only published version. */
function hook(name: string, introduced: Release, more: Partial<Lifecycle> = {}): Lifecycle {
  return { group: hooksGroup, version: 'v1alpha1', name, introduced, ...more };
}

/**
 * The lives of Cluster API's Runtime Hooks and of ExtensionConfig itself, from Cluster API's release notes and its
 * Runtime SDK documentation. A new version of a hook is a new line; a deprecation is a field on an old one.
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

  hook('Discovery', v1(2), { singleton: true }),

  hook('BeforeClusterCreate', v1(2), { blockingSince: v1(2) }),
  hook('AfterControlPlaneInitialized', v1(2)),
  hook('BeforeClusterUpgrade', v1(2), { blockingSince: v1(2) }),
  hook('AfterControlPlaneUpgrade', v1(2), { blockingSince: v1(2) }),
  hook('AfterClusterUpgrade', v1(2), { blockingSince: v1(12) }),
  hook('BeforeClusterDelete', v1(2), { blockingSince: v1(2) }),
  hook('BeforeControlPlaneUpgrade', v1(12), { blockingSince: v1(12) }),
  hook('BeforeWorkersUpgrade', v1(12), { blockingSince: v1(12) }),
  hook('AfterWorkersUpgrade', v1(12), { blockingSince: v1(12) }),

  hook('GeneratePatches', v1(2)),
  hook('ValidateTopology', v1(2)),
  hook('DiscoverVariables', v1(4)),

  hook('CanUpdateMachine', v1(12)),
  hook('CanUpdateMachineSet', v1(12)),
  hook('UpdateMachine', v1(12), { blockingSince: v1(12) }),

  hook('GenerateUpgradePlan', v1(12)),
];
