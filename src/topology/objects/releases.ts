import { compareReleases, type Release } from '../../runtimehooks/index.ts';

const v1 = (minor: number): Release => ({ major: 1, minor });

/** The oldest release that a rehearsal simulates. */
export const oldestRelease = v1(12);
/** The newest one. Its main branch of August 2026 does not differ in what extensions and users see. */
export const newestRelease = v1(14);

/** What releases of Cluster API changed in what extensions and users see, by the first release that has it. */
const changes = {
  /** Hooks get Clusters in v1beta2 instead of v1beta1. */
  clustersInV1beta2: { since: v1(13) },
  /**
   * Templates in requests have the labels and annotations of what is made of them, and patches of them have an effect.
   */
  templateMetadata: { since: v1(14) },
  /** The annotation of the upgrade step is removed after an upgrade, and not emptied. */
  removedUpgradeStep: { since: v1(14) },
  /** Errors and conditions have the messages of extensions that fail. */
  failureMessages: { since: v1(14) },
} as const;

/** Whether a release has a change. */
export const has = (release: Release, change: keyof typeof changes): boolean =>
  compareReleases(release, changes[change].since) >= 0;

/** The annotation of the upgrade step; undefined if the Cluster has none. */
export const upgradeStepText = (release: Release, step: string | undefined): string | undefined =>
  step ?? (has(release, 'removedUpgradeStep') ? undefined : '');
