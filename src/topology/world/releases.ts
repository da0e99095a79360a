import { compareReleases, type Release, v1 } from '../../runtimehooks/index.ts';

/** What releases changed in the simulation, by the first one that has it. What changed in calls is in the hooks' definitions. */
const changes = {
  /**
   * Templates in requests have the labels and annotations of what is made of them, and patches of them have an effect.
   */
  templateMetadata: { since: v1(14) },
  /** The annotation of the upgrade step is removed after an upgrade, and not emptied. */
  removedUpgradeStep: { since: v1(14) },
  /** The annotation that skips preflight checks of MachineSets is read from their bootstrap templates, too. */
  skipAtTemplate: { since: v1(14) },
} as const;

/** Whether a release has a change. */
export const has = (release: Release, change: keyof typeof changes): boolean =>
  compareReleases(release, changes[change].since) >= 0;

/** The annotation of the upgrade step; undefined if the Cluster has none. */
export const upgradeStepText = (release: Release, step: string | undefined): string | undefined =>
  step ?? (has(release, 'removedUpgradeStep') ? undefined : '');
