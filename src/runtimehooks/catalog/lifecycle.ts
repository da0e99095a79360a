import { compareReleases, type Release } from './release.ts';

/** Identifies one version of a hook, or of an API. */
export interface LifecycleKey {
  /** API group, e.g. `hooks.runtime.cluster.x-k8s.io`. */
  readonly group: string;
  /** API version, e.g. `v1alpha1`. */
  readonly version: string;
  /** Name of the hook, e.g. `BeforeClusterUpgrade`, or the kind of an API. */
  readonly name: string;
}

/** The lifecycle of one version of a Runtime Hook, or of an API. Releases are Cluster API's. */
export interface Lifecycle extends LifecycleKey {
  /** First release that has this version. */
  readonly introduced: Release;
  readonly deprecated?: {
    /** Release that announced the deprecation. */
    readonly release: Release;
    /** Month of that release, as YYYY-MM. */
    readonly date: string;
  };
  /** First release without this version. */
  readonly removed?: Release;
  readonly replacedBy?: LifecycleKey;
  /** Whether an extension server has exactly one handler of it, which has no name in the path. */
  readonly singleton?: boolean;
  /** First release in which a response can ask Cluster API to retry later (`retryAfterSeconds`). */
  readonly blockingSince?: Release;
}

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
