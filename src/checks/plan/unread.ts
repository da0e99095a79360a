import type { ClusterPlan, Plan } from '../../topology/index.ts';
import type { Unread } from './live.ts';

/** The plan where objects could not be read: nothing is known about the groups, for lack of a permission that is named. */
export function withUnread(plan: Plan, unread: readonly Unread[]): Plan {
  // Without their labels, only namespaceSelectors of extensions cannot be judged.
  const missing = unread.filter(({ kind }) => kind !== 'Namespace');
  if (missing.length === 0) {
    return plan;
  }
  const clusters = plan.clusters.map(
    ({ cluster, groups, problems }): ClusterPlan => ({
      cluster,
      groups: groups.map((group) => ({
        ...group,
        verdict: 'unknown',
        machines: { ...group.machines, replaced: 0, inPlace: 0 },
        causes: [],
      })),
      // What is not among the objects may be what could not be read.
      problems: [
        ...problems.filter(({ object }) => object === undefined),
        ...missing.map(({ why }) => ({ text: why })),
      ],
    }),
  );
  return { ...plan, clusters, sum: { ...plan.sum, replaced: 0 } };
}
