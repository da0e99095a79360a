import { type JsonObject, objectAt, own, perObject, textAt, textValues } from '../../kubernetes/index.ts';
import { groupLabel, ownedLabel } from '../patches/items.ts';
import type { ExistingMachine, GroupObjects } from '../world/groups.ts';
import { coreGroup, groupOf, nameOf, namespacedName, namespaceOf, type Objects } from '../world/objects.ts';
import { inV1beta2 } from '../world/v1beta1.ts';

const controlPlaneLabel = 'cluster.x-k8s.io/control-plane';
const deploymentLabel = 'cluster.x-k8s.io/deployment-name';
const poolLabel = 'cluster.x-k8s.io/pool-name';

export const labelsOf = (object: JsonObject): Record<string, string> =>
  textValues(objectAt(object, 'metadata', 'labels'));

/** Groups, MachineSets and Machines by kind and by the Cluster that they belong to. */
const byCluster = perObject((objects: Objects) =>
  Map.groupBy(
    ['MachineDeployment', 'MachinePool', 'MachineSet', 'Machine'].flatMap((kind) => objects.ofKind(coreGroup, kind)),
    (object) => `${textAt(object, 'kind')} ${namespaceOf(object)}/${textAt(object, 'spec', 'clusterName')}`,
  ),
);
const ofCluster = (objects: Objects, kind: string, cluster: JsonObject): readonly JsonObject[] =>
  byCluster(objects).get(`${kind} ${namespacedName(cluster)}`) ?? [];

/** The object that a reference names: `apiGroup` in v1beta2, `apiVersion` in v1beta1. */
export function referred(objects: Objects, reference: JsonObject, namespace: string): JsonObject | undefined {
  const group = reference.apiGroup === undefined ? groupOf(reference) : textAt(reference, 'apiGroup');
  return objects.get({ group, kind: textAt(reference, 'kind'), namespace, name: textAt(reference, 'name') });
}

/** Where a control plane refers to the template of its machines. */
export function machineReference(controlPlane: JsonObject): JsonObject {
  const reference = objectAt(controlPlane, 'spec', 'machineTemplate', 'spec', 'infrastructureRef');
  return reference.name === undefined
    ? objectAt(controlPlane, 'spec', 'machineTemplate', 'infrastructureRef')
    : reference;
}

/** The object that a reference names, in the newest version of Cluster API's own kinds. */
function referredInNewest(objects: Objects, reference: JsonObject, namespace: string): JsonObject | undefined {
  const object = referred(objects, reference, namespace);
  return object && inV1beta2(object);
}

/** What exists of a Cluster. */
export interface Existing {
  infrastructureCluster: JsonObject | undefined;
  controlPlane: GroupObjects | undefined;
  /** By kind and name in the topology; without a topology, by kind and name. */
  workers: ReadonlyMap<string, GroupObjects>;
}

export const workerKey = (kind: string, name: string): string => `${kind} ${name}`;

function workerObjects(objects: Objects, object: JsonObject): GroupObjects {
  const spec = objectAt(object, 'spec', 'template', 'spec');
  const namespace = namespaceOf(object);
  return {
    object,
    bootstrap: referredInNewest(objects, objectAt(spec, 'bootstrap', 'configRef'), namespace),
    infrastructure: referredInNewest(objects, objectAt(spec, 'infrastructureRef'), namespace),
  };
}

/** What exists of a Cluster; of one with a topology, what its controller has made. */
export function existingOf(cluster: JsonObject, objects: Objects, isTopology: boolean): Existing {
  const namespace = namespaceOf(cluster);
  const controlPlane = referredInNewest(objects, objectAt(cluster, 'spec', 'controlPlaneRef'), namespace);
  const workers = new Map<string, GroupObjects>();
  for (const kind of ['MachineDeployment', 'MachinePool'] as const) {
    for (const object of ofCluster(objects, kind, cluster)) {
      const labels = labelsOf(object);
      const name = isTopology ? own(labels, groupLabel[kind]) : nameOf(object);
      if (name !== undefined && (!isTopology || own(labels, ownedLabel) !== undefined)) {
        workers.set(workerKey(kind, name), workerObjects(objects, object));
      }
    }
  }
  return {
    infrastructureCluster: referredInNewest(objects, objectAt(cluster, 'spec', 'infrastructureRef'), namespace),
    controlPlane: controlPlane && {
      object: controlPlane,
      bootstrap: undefined,
      infrastructure: referredInNewest(objects, machineReference(controlPlane), namespace),
    },
    workers,
  };
}

const controlPlaneKey = 'control-plane';

/** MachineSets or Machines of a Cluster by the group that they belong to. */
const byGroup = perObject((objects: readonly JsonObject[]) =>
  Map.groupBy(objects, (object) => {
    const labels = labelsOf(object);
    if (own(labels, controlPlaneLabel) !== undefined) {
      return controlPlaneKey;
    }
    const pool = own(labels, poolLabel);
    return pool === undefined
      ? workerKey('MachineDeployment', own(labels, deploymentLabel) ?? '')
      : workerKey('MachinePool', pool);
  }),
);

/** The MachineSets and Machines of a group. Machines are undefined if there are none of the whole Cluster. */
export function machinesOf(
  cluster: JsonObject,
  objects: Objects,
  { kind, name, isControlPlane }: { kind: string; name: string; isControlPlane: boolean },
): { machineSets: GroupObjects[]; machines: ExistingMachine[] | undefined } {
  const key = isControlPlane ? controlPlaneKey : workerKey(kind, name);
  const ofGroup = (all: readonly JsonObject[]) => byGroup(all).get(key) ?? [];
  const all = ofCluster(objects, 'Machine', cluster);
  const namespace = namespaceOf(cluster);
  return {
    machineSets: isControlPlane
      ? []
      : ofGroup(ofCluster(objects, 'MachineSet', cluster)).map((set) => workerObjects(objects, set)),
    machines:
      all.length === 0
        ? undefined
        : ofGroup(all).map((machine) => ({
            machine,
            bootstrapConfig: referredInNewest(objects, objectAt(machine, 'spec', 'bootstrap', 'configRef'), namespace),
            infrastructureMachine: referredInNewest(objects, objectAt(machine, 'spec', 'infrastructureRef'), namespace),
          })),
  };
}
