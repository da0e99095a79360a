import { isSame, type Json } from '../../../kubernetes/index.ts';
import { formatRelease, newestKnownRelease, type Release, v1 } from '../../../runtimehooks/index.ts';
import type { Plan } from '../../../topology/index.ts';

/** What a plan says of Machines: verdicts and their numbers. */
const outcomeOf = ({ clusters, sum }: Plan): Json =>
  ({
    groups: clusters.flatMap(({ cluster, groups }) =>
      groups.map(({ group, verdict, machines }) => ({ cluster, group, verdict, machines: { ...machines } })),
    ),
    sum: { ...sum },
  }) satisfies Json;

export const assumedRelease = `the release of Cluster API in this cluster is not known: clusterctl's Providers, the manager's Deployment and the definitions are unreadable or do not tell it; ${formatRelease(newestKnownRelease)} is assumed (--cluster-api-version)`;

/**
 * In which other releases a plan would be another one, in one line; undefined if in none.
 *
 * @param planFor plans for a release.
 */
export async function differingReleases(
  made: Plan,
  planFor: (release: Release) => Promise<Plan>,
): Promise<string | undefined> {
  const differing: string[] = [];
  for (let minor = 12; minor < newestKnownRelease.minor; minor++) {
    const release = v1(minor);
    if (!isSame(outcomeOf(await planFor(release)), outcomeOf(made))) {
      differing.push(formatRelease(release));
    }
  }
  return differing.length === 0
    ? undefined
    : `the plan differs in ${differing.join(' and ')}, and the installed release is not known: name it with --cluster-api-version`;
}
