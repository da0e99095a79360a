import { compareReleases, formatRelease, isFixedIn, type Release, v1 } from '../../runtimehooks/index.ts';

interface Change {
  /** The first release that has it. */
  since: Release;
  /** The patch releases that took it back, if some did. */
  fixed?: readonly Required<Release>[];
  /** What it does to Machines of objects that stay as they are, if it does something. */
  text?: string;
}

const changes = {
  /** Templates in requests have the labels and annotations of what is made of them, too. */
  templateMetadata: { since: v1(14), text: 'patches of labels and annotations of templates take effect' },
  /** The annotation of the upgrade step is removed after an upgrade, and not emptied. */
  removedUpgradeStep: { since: v1(14) },
  /** The annotation that skips preflight checks of MachineSets is read from their bootstrap templates, too. */
  skipAtTemplate: {
    since: v1(14),
    text: 'preflight checks of MachineSets can be skipped by an annotation of their bootstrap templates',
  },
  /** isKubeadmConfigForJoin in controlplane/kubeadm/internal/filters.go, v1.12. */
  joinByControlPlane: {
    since: v1(12),
    fixed: [
      { ...v1(13), patch: 6 },
      { ...v1(14), patch: 1 },
    ],
    text: 'a Machine whose KubeadmConfig lacks joinConfiguration.controlPlane counts as the first one of its control plane (cluster-api 14167)',
  },
} satisfies Record<string, Change>;

const isIn = (release: Release, { since, fixed = [] }: Change): boolean =>
  compareReleases(release, since) >= 0 && !isFixedIn(release, fixed);

export const has = (release: Release, change: keyof typeof changes): boolean => isIn(release, changes[change]);

/** The changes that an upgrade of Cluster API makes to how it reads the same objects, in plain sentences. */
export const readingsBetween = (from: Release, to: Release): string[] =>
  Object.values(changes).flatMap((change: Change) => {
    const { since, fixed = [], text } = change;
    const isNow = isIn(to, change);
    const fix = fixed.findLast((one) => compareReleases(one, to) <= 0);
    const patches = fixed.length === 0 ? '' : `; no longer from ${fixed.map(formatRelease).join(' and ')} on`;
    return text === undefined || isNow === isIn(from, change)
      ? []
      : [isNow ? `${formatRelease(since)}: ${text}${patches}` : `${formatRelease(fix ?? to)}: no longer, that ${text}`];
  });

/** The annotation of the upgrade step; undefined if the Cluster has none. */
export const upgradeStepText = (release: Release, step: string | undefined): string | undefined =>
  step ?? (has(release, 'removedUpgradeStep') ? undefined : '');
