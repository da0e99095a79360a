import { type JsonObject, textAt } from '../../kubernetes/index.ts';
import { kindWithMachines } from '../control-planes/index.ts';
import { upgradeConcurrency } from '../refusals/index.ts';
import type { GroupChange } from '../world/groups.ts';
import type { GroupPlan, Peak } from '../world/plan-document.ts';
import { fencepostsOf, replicasOf, sum } from './machines.ts';

function surgeOf({ after, kind }: GroupChange): number {
  if (after === undefined) {
    return 0;
  }
  const { maxSurge } =
    kind === 'MachineDeployment'
      ? fencepostsOf(after.object)
      : { maxSurge: kindWithMachines(after.object)?.maxSurge(after.object) ?? 0 };
  return Math.min(maxSurge, replicasOf(after.object));
}

/**
 * How the groups of a Cluster roll together; undefined for fewer than two. An upgrade comes to workers when the control plane
 * has it (outside a topology to MachineDeployments only), and in a topology to one MachineDeployment after the other, or to as
 * many at once as an annotation of the Cluster says; other changes come to all groups at once.
 */
export function peakOf(
  cluster: JsonObject,
  changes: readonly GroupChange[],
  groups: readonly GroupPlan[],
): Peak | undefined {
  const rolling = changes.filter((_, index) => (groups[index]?.machines.replaced ?? 0) > 0);
  if (rolling.length < 2) {
    return undefined;
  }
  const isUpgraded = ({ versions }: GroupChange) => versions.length > 1;
  const isPlane = ({ group }: GroupChange) => group === 'control-plane';
  const workers = rolling.filter((change) => !isPlane(change));
  const hasTopology = textAt(cluster, 'spec', 'topology', 'version') !== '';
  const isLimited = hasTopology && workers.every(isUpgraded);
  const limit = isLimited ? upgradeConcurrency(cluster) : workers.length;
  const isLater = (change: GroupChange) => !isPlane(change) && (hasTopology || change.kind === 'MachineDeployment');
  const isFirst = rolling.some((change) => isPlane(change) && isUpgraded(change));
  const later = isFirst && workers.some(isUpgraded) ? rolling.filter(isLater) : [];
  const phases = [rolling.filter((change) => !later.includes(change)), later].filter(({ length }) => length > 0);
  const peaks = phases.map((phase) => {
    const ofWorkers = phase.filter((change) => !isPlane(change)).map(surgeOf);
    const surges = [...phase.filter(isPlane).map(surgeOf), ...ofWorkers.toSorted((a, b) => b - a).slice(0, limit)];
    return { atOnce: surges.length, surge: sum(surges) };
  });
  const versions = rolling.find(isUpgraded)?.versions;
  return {
    order: phases.map((phase) => phase.map(({ group }) => group)),
    atOnce: Math.max(...peaks.map(({ atOnce }) => atOnce)),
    surge: Math.max(...peaks.map(({ surge }) => surge)),
    ...(versions !== undefined && { versions: [...versions] }),
  };
}
