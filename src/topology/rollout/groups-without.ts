import { groupOf, type JsonObject, nameOf, objectAt, textAt } from '../../kubernetes/index.ts';
import { coreGroup } from '../../runtimehooks/index.ts';
import { type Existing, machinesOf, workerKey } from '../desired/existing.ts';
import { stored } from '../refusals/index.ts';
import type { GroupObjects } from '../world/groups.ts';
import { picked } from '../world/objects.ts';
import type { GroupPlan, Verdict } from '../world/plan-document.ts';
import { classOf, topologyOf, workersIn } from '../world/topologies.ts';
import type { World } from '../world/world.ts';
import { machinesBefore } from './group-plan.ts';
import { unjudged } from './judge-group.ts';

function ofSettings(kind: string, settings: JsonObject, group = coreGroup): GroupObjects {
  const { metadata = {} } = settings;
  const object = { apiVersion: `${group}/v1beta2`, kind, metadata, spec: picked(settings, ['replicas']) };
  return { object: stored(object, () => undefined), bootstrap: undefined, infrastructure: undefined };
}

const kindOf = (reference: JsonObject) => ({
  group: textAt(reference, 'apiGroup') || groupOf(reference),
  kind: textAt(reference, 'kind'),
});

/** The kind of the control planes of a Cluster's class, with its group; empty if the class is not known. */
function kindInClass(world: World, cluster: JsonObject): { group: string; kind: string } {
  const clusterClass = world.find({ group: coreGroup, kind: 'ClusterClass', ...classOf(cluster) });
  const { group, kind } = kindOf(objectAt(clusterClass, 'spec', 'controlPlane', 'templateRef'));
  return { group, kind: kind.replace(/Template$/, '') };
}

/** The groups of a Cluster with their Machines, when it is not known what becomes of them, or nothing does. */
export function groupsWithout(
  world: World,
  { cluster: was, existing }: { cluster: JsonObject | undefined; existing: Existing },
  wanted: JsonObject,
  verdict: Verdict,
): GroupPlan[] {
  const cluster = was ?? wanted;
  const unjudgedGroup = (group: string, kind: string, name: string, known: GroupObjects | undefined) => {
    const { machines } = machinesOf(cluster, world, { group, kind, name });
    return unjudged({ group, kind, name }, verdict, machinesBefore({ before: known, machines }));
  };
  const reference = objectAt(cluster, 'spec', 'controlPlaneRef');
  const controlPlane = existing.controlPlane?.object ?? { ...reference, metadata: reference };
  const isNamed = textAt(controlPlane, 'kind') !== '';
  const { group, kind } = isNamed ? kindOf(controlPlane) : kindInClass(world, cluster);
  const settings = was && ofSettings(kind, objectAt(topologyOf(was), 'controlPlane'), group);
  const workers = new Map<string, GroupPlan>();
  for (const [of, isNew] of [...(was ? [[was, false] as const] : []), [wanted, true] as const]) {
    for (const { kind: workerKind, worker } of workersIn(topologyOf(of))) {
      const group = textAt(worker, 'name');
      const key = workerKey(workerKind, group);
      const known = existing.workers.get(key) ?? (isNew ? undefined : ofSettings(workerKind, worker));
      const name = nameOf(existing.workers.get(key)?.object ?? {});
      workers.set(key, workers.get(key) ?? unjudgedGroup(group, workerKind, name, known));
    }
  }
  for (const [key, known] of existing.workers) {
    const [workerKind, name] = [textAt(known.object, 'kind'), nameOf(known.object)];
    workers.set(key, workers.get(key) ?? unjudgedGroup(key.slice(workerKind.length + 1), workerKind, name, known));
  }
  return [
    unjudgedGroup('control-plane', kind, nameOf(controlPlane), existing.controlPlane ?? settings),
    ...workers.values(),
  ];
}
