import { compareReleases, formatRelease, type Release, v1 } from '../../runtimehooks/index.ts';

/**
 * The changes of releases in the simulation, by the first release that has them. What changed in calls is in the hooks' definitions.
 * `text`: what it does to Machines of objects that stay as they are, if it does something.
 */
const changes = {
  /** Templates in requests have the labels and annotations of what is made of them, too. */
  templateMetadata: { since: v1(14), text: 'patches of labels and annotations of templates take effect' },
  /** The annotation of the upgrade step is removed after an upgrade, and not emptied. */
  removedUpgradeStep: { since: v1(14), text: undefined },
  /** The annotation that skips preflight checks of MachineSets is read from their bootstrap templates, too. */
  skipAtTemplate: {
    since: v1(14),
    text: 'preflight checks of MachineSets can be skipped by an annotation of their bootstrap templates',
  },
  /** isKubeadmConfigForJoin in controlplane/kubeadm/internal/filters.go, v1.12. */
  joinByControlPlane: {
    since: v1(12),
    text: 'a Machine whose KubeadmConfig lacks joinConfiguration.controlPlane counts as the first one of its control plane (cluster-api 14167; not any more from v1.13.6 and v1.14.1 on)',
  },
} as const;

/** Whether a release has a change. */
export const has = (release: Release, change: keyof typeof changes): boolean =>
  compareReleases(release, changes[change].since) >= 0;

/** The changes that an upgrade of Cluster API makes to how it reads the same objects, in plain sentences. */
export const readingsBetween = (from: Release, to: Release): string[] =>
  Object.values(changes)
    .filter(({ since }) => compareReleases(since, from) > 0 && compareReleases(since, to) <= 0)
    .flatMap(({ since, text }) => (text === undefined ? [] : [`${formatRelease(since)}: ${text}`]));

/** The annotation of the upgrade step; undefined if the Cluster has none. */
export const upgradeStepText = (release: Release, step: string | undefined): string | undefined =>
  step ?? (has(release, 'removedUpgradeStep') ? undefined : '');
