import {
  clusterApiHooks,
  compareReleases,
  generalChanges,
  type Release,
  type ReleaseChange,
} from '../../runtimehooks/index.ts';

/** The changes of calls that affect the given hooks when one release replaces another, oldest first. */
export function wireChangesBetween(from: Release, to: Release, called: ReadonlySet<string>): ReleaseChange[] {
  const ofHooks = clusterApiHooks.filter(({ name }) => called.has(name)).flatMap(({ changes }) => changes);
  // Hooks share theirs.
  return [...new Set([...generalChanges, ...ofHooks])]
    .filter(({ release }) => compareReleases(release, from) > 0 && compareReleases(release, to) <= 0)
    .sort((a, b) => compareReleases(a.release, b.release));
}
