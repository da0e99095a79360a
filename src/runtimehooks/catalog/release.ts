/** A release of Cluster API (or of a provider): 1.11 is minor release 11 of major version 1. */
export interface Release {
  major: number;
  minor: number;
}

/** A release of major version 1, as all are. */
export const v1 = (minor: number): Release => ({ major: 1, minor });

const format = /^v?(\d{1,4})\.(\d{1,4})(\.\d{1,4}([-+].*)?)?$/;

/** Parses `1.11`, `v1.11` or `v1.11.3`; undefined for anything else. Patch releases do not change hooks. */
export function parseRelease(text: string): Release | undefined {
  const match = format.exec(text);
  return match === null ? undefined : { major: Number(match[1]), minor: Number(match[2]) };
}

/** A release as Cluster API's users write it: `v1.11`. */
export function formatRelease({ major, minor }: Release): string {
  return `v${major}.${minor}`;
}

/** Negative if `a` precedes `b`, zero for the same release, positive if `a` is later. */
export function compareReleases(a: Release, b: Release): number {
  return a.major - b.major || a.minor - b.minor;
}
