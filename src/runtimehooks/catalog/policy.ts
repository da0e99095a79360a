import type { Lifecycle } from './lifecycle.ts';
import { compareReleases, type Release } from './release.ts';

export type Phase = 'future' | 'supported' | 'deprecated' | 'removed';

/** The phase of a version in a release of Cluster API. */
export function phaseIn(lifecycle: Lifecycle, release: Release): Phase {
  if (compareReleases(release, lifecycle.introduced) < 0) {
    return 'future';
  }
  if (lifecycle.removed !== undefined && compareReleases(release, lifecycle.removed) >= 0) {
    return 'removed';
  }
  if (lifecycle.deprecated !== undefined && compareReleases(release, lifecycle.deprecated.release) >= 0) {
    return 'deprecated';
  }
  return 'supported';
}
