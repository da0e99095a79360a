import {
  fieldAt,
  groupOf,
  type JsonObject,
  nameOf,
  namespacedName,
  namespaceOf,
  objectAt,
  objectText,
  textAt,
} from '../../kubernetes/index.ts';
import { coreGroup } from '../../runtimehooks/index.ts';
import { conditionOf, type GroupPlan, type Plan, type Problem } from '../../topology/index.ts';

const isTrue = (condition: JsonObject | undefined): condition is JsonObject => condition?.status === 'True';

/** What Machines wait for that are being deleted: drains with the Pods that block them, detaching volumes. */
const deletionOf = (machine: JsonObject): Problem[] => {
  const deleting = conditionOf(machine, 'Deleting');
  const message = textAt(deleting, 'message');
  return isTrue(deleting) && message !== ''
    ? [{ text: `Machine ${nameOf(machine)} is being deleted: ${message}` }]
    : [];
};

function waitsOfCluster(cluster: JsonObject): Problem[] {
  const reconciled = conditionOf(cluster, 'TopologyReconciled');
  return [
    // With a topology, the plan says it.
    ...(fieldAt(cluster, 'spec', 'paused') === true && fieldAt(cluster, 'spec', 'topology') === undefined
      ? [{ text: `Cluster ${namespacedName(cluster)} is paused: nothing happens before it is resumed` }]
      : []),
    ...(reconciled?.status === 'False'
      ? [{ text: `TopologyReconciled is False (${textAt(reconciled, 'reason')}): ${textAt(reconciled, 'message')}` }]
      : []),
  ];
}

/** What a rollout waits for that is under way: new Machines that do not become ready. */
function waitsOfGroup({ problems = [] }: GroupPlan, object: JsonObject | undefined): Problem[] {
  const ready = conditionOf(object ?? {}, 'MachinesReady');
  if (ready?.status !== 'False' || problems.every(({ causes }) => causes === undefined)) {
    return [];
  }
  const { maxUnavailable = 0 } = objectAt(object, 'spec', 'rollout', 'strategy', 'rollingUpdate');
  const room = maxUnavailable === 0 ? 'old Machines stay until new ones are available (maxUnavailable 0); ' : '';
  return [{ text: `${room}MachinesReady is False (${textAt(ready, 'reason')}): ${textAt(ready, 'message')}` }];
}

const maxDeletions = 10;

/** The plan of a state without a change, with what is under way or waiting already, as the objects' conditions say. */
export function withWaits(plan: Plan, objects: readonly JsonObject[]): Plan {
  const ofCore = objects.filter((object) => groupOf(object) === coreGroup);
  const machines = Map.groupBy(
    ofCore.filter(({ kind }) => kind === 'Machine'),
    (machine) => `${namespaceOf(machine)}/${textAt(machine, 'spec', 'clusterName')}`,
  );
  const clusters = new Map(
    ofCore.filter(({ kind }) => kind === 'Cluster').map((cluster) => [namespacedName(cluster), cluster]),
  );
  const byName = new Map(objects.map((object) => [objectText(object), object]));
  const withGroupWaits = (group: GroupPlan, namespace: string): GroupPlan => {
    const waits = waitsOfGroup(group, byName.get(`${group.kind} ${namespace}/${group.name}`));
    return waits.length === 0 ? group : { ...group, problems: [...(group.problems ?? []), ...waits] };
  };
  return {
    ...plan,
    clusters: plan.clusters.map((one) => ({
      ...one,
      groups: one.groups.map((group) => withGroupWaits(group, one.cluster.split('/')[0] ?? '')),
      problems: [
        ...one.problems,
        ...waitsOfCluster(objectAt(clusters.get(one.cluster))),
        ...(machines.get(one.cluster) ?? []).flatMap(deletionOf).slice(0, maxDeletions),
      ],
    })),
  };
}
