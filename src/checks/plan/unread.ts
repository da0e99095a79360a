import type { ClusterPlan, GroupPlan, Plan } from '../../topology/index.ts';
import type { Unread } from './live.ts';

/** Kinds without which nothing is known about any group of a Cluster. */
const neededByAll = new Set(['ClusterClass', 'ExtensionConfig']);

/** The kinds that say what Machines of a group are made of. */
function isNeeded({ kind }: Unread, { group, kind: groupKind }: GroupPlan): boolean {
  if (neededByAll.has(kind)) {
    return true;
  }
  if (kind === 'Namespace') {
    return false;
  }
  const isOfWorkers = ['MachineDeployment', 'MachineSet', 'MachinePool', 'KubeadmConfigTemplate'].includes(kind);
  const isOfControlPlane = kind === groupKind || kind.endsWith('ControlPlane') || kind.endsWith('ControlPlaneTemplate');
  return group === 'control-plane' ? !isOfWorkers : !isOfControlPlane;
}

/** The plan where objects could not be read: groups that need them are not known, with the missing permission. */
export function withUnread(plan: Plan, unread: readonly Unread[]): Plan {
  const clusters = plan.clusters.map((cluster): ClusterPlan => {
    const groups = cluster.groups.map((group): GroupPlan => {
      const missing = unread.filter((one) => isNeeded(one, group));
      if (missing.length === 0) {
        return group;
      }
      const problems = [...(group.problems ?? []), ...missing.map(({ why }) => ({ text: why }))];
      return {
        ...group,
        verdict: 'unknown',
        machines: { ...group.machines, replaced: 0, inPlace: 0 },
        causes: [],
        problems,
      };
    });
    return { ...cluster, groups };
  });
  const replaced = clusters.flatMap(({ groups }) => groups).reduce((sum, { machines }) => sum + machines.replaced, 0);
  return { ...plan, clusters, sum: { ...plan.sum, replaced } };
}
