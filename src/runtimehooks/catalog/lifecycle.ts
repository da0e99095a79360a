/** A release of Cluster API (or of a provider): 1.11 is minor release 11 of major version 1. */
export interface Release {
  major: number;
  minor: number;
  /** Absent: it is not known which, or all are meant. */
  patch?: number;
}

export const v1 = (minor: number): Release => ({ major: 1, minor });

const format = /^v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4})(?:[-+].*)?)?$/;

/** Parses `1.11`, `v1.11` or `v1.11.3`; undefined for anything else. */
export function parseRelease(text: string): Release | undefined {
  const match = format.exec(text);
  if (match === null) {
    return undefined;
  }
  const [, major, minor, patch] = match;
  return { major: Number(major), minor: Number(minor), ...(patch !== undefined && { patch: Number(patch) }) };
}

/** A release as Cluster API's users write it: `v1.11`, or `v1.11.3`. */
export function formatRelease({ major, minor, patch }: Release): string {
  return `v${major}.${minor}${patch === undefined ? '' : `.${patch}`}`;
}

/** Negative if `a` precedes `b`, zero for the same release, positive if `a` is later. Patch releases count if both have one. */
export function compareReleases(a: Release, b: Release): number {
  const patches = a.patch === undefined || b.patch === undefined ? 0 : a.patch - b.patch;
  return a.major - b.major || a.minor - b.minor || patches;
}

/** Whether a release has a fix that came with one of these patch releases of its minor. */
export const isFixedIn = (release: Release, fixed: readonly Required<Release>[]): boolean =>
  fixed.some((one) => one.minor === release.minor && release.patch !== undefined && compareReleases(release, one) >= 0);

/** Identifies one version of a hook, or of an API. */
export interface LifecycleKey {
  readonly group: string;
  /** `v1alpha1`. */
  readonly version: string;
  /** Name of the hook, or kind of the API. */
  readonly name: string;
}

/** The lifecycle of one version of a Runtime Hook, or of an API. Releases are Cluster API's. */
export interface Lifecycle extends LifecycleKey {
  readonly introduced: Release;
  readonly deprecated?: {
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

/** The phase of a version of a hook, or API, in a release of Cluster API. */
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
