import type { Lifecycle } from './lifecycle.ts';
import { compareReleases, type Release } from './release.ts';

/** How stable a version is, by its name (`v1`, `v1beta2`, `v1alpha1`). */
export type Stability = 'alpha' | 'beta' | 'GA';

const order: readonly Stability[] = ['alpha', 'beta', 'GA'];

/** The stability that the name of a version implies, or undefined if it is not a version name. */
export function stabilityOf(version: string): Stability | undefined {
  const match = /^v[1-9]\d*((alpha|beta)[1-9]\d*)?$/.exec(version);
  return match === null ? undefined : ((match[2] as 'alpha' | 'beta' | undefined) ?? 'GA');
}

/** Whether `stability` is at least `least` (rule 3 of the Runtime SDK: GA replaces GA or beta; beta never replaces GA). */
export function isAtLeastAsStable(stability: Stability, least: Stability): boolean {
  return order.indexOf(stability) >= order.indexOf(least);
}

/** How long a deprecated version remains supported, whichever is longer (rule 4 of the Runtime SDK). */
const support: Record<Stability, { releases: number; months: number }> = {
  GA: { releases: 3, months: 12 },
  beta: { releases: 2, months: 6 },
  alpha: { releases: 0, months: 0 },
};

/** The end of a deprecated version's guaranteed support. */
interface SupportEnd {
  /** The first release that may no longer have the version. */
  release: Release;
  /** The first month in which it may have been removed, as YYYY-MM. */
  month: string;
}

function addMonths(month: string, count: number): string {
  const [year, number] = month.split('-').map(Number) as [number, number];
  const total = year * 12 + (number - 1) + count;
  return `${Math.floor(total / 12)}-${String((total % 12) + 1).padStart(2, '0')}`;
}

/** When a deprecated version may be removed at the earliest; undefined if it is not deprecated. */
export function supportEnd(lifecycle: Lifecycle): SupportEnd | undefined {
  const stability = stabilityOf(lifecycle.version);
  if (lifecycle.deprecated === undefined || stability === undefined) {
    return undefined;
  }
  const { releases, months } = support[stability];
  const { release, date } = lifecycle.deprecated;
  return {
    release: { major: release.major, minor: release.minor + releases },
    month: addMonths(date, months),
  };
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

/** The deprecation of a version, as it affects users. */
export interface Deprecation {
  /** Release that announced it, and its month as YYYY-MM. */
  since: NonNullable<Lifecycle['deprecated']>;
  /** Undefined for an alpha version, which any later release may remove. */
  supportedUntil: SupportEnd | undefined;
}

/**
 * The deprecation of a version in a release of Cluster API; undefined if it is not deprecated there, or already
 * removed.
 */
export function deprecationIn(lifecycle: Lifecycle, release: Release): Deprecation | undefined {
  const { deprecated: since } = lifecycle;
  if (since === undefined || phaseIn(lifecycle, release) !== 'deprecated') {
    return undefined;
  }
  return { since, supportedUntil: stabilityOf(lifecycle.version) === 'alpha' ? undefined : supportEnd(lifecycle) };
}
