import {
  groupOf,
  type JsonObject,
  nameOf,
  namespaceOf,
  objectAt,
  own,
  perObject,
  textAt,
  textValues,
} from '../../kubernetes/index.ts';
import type { Blueprint } from '../blueprint/blueprint.ts';
import { machineTemplateOf } from '../control-planes/index.ts';
import { inV1beta2 } from '../manifests/v1beta1.ts';
import { groupLabel, ownedLabel } from '../patches/items.ts';
import type { ClusterFacts } from '../refusals/index.ts';
import type { GroupChange, GroupObjects } from '../world/groups.ts';
import { asEnd } from '../world/not-known.ts';
import { workerLists } from '../world/topologies.ts';
import type { World } from '../world/world.ts';

const controlPlaneLabel = 'cluster.x-k8s.io/control-plane';
const deploymentLabel = 'cluster.x-k8s.io/deployment-name';
const poolLabel = 'cluster.x-k8s.io/pool-name';

export const labelsOf = (object: JsonObject): Record<string, string> =>
  textValues(objectAt(object, 'metadata', 'labels'));

/** The object that a reference names: `apiGroup` in v1beta2, `apiVersion` in v1beta1. */
export function referred(world: World, reference: JsonObject, namespace: string): JsonObject | undefined {
  const group = reference.apiGroup === undefined ? groupOf(reference) : textAt(reference, 'apiGroup');
  return world.get({ group, kind: textAt(reference, 'kind'), namespace, name: textAt(reference, 'name') });
}

function referredInNewest(world: World, reference: JsonObject, namespace: string): JsonObject | undefined {
  const object = referred(world, reference, namespace);
  return object && inV1beta2(object);
}

export interface Existing {
  infrastructureCluster: JsonObject | undefined;
  controlPlane: GroupObjects | undefined;
  /** By kind and name in the topology; without a topology, by kind and name. */
  workers: ReadonlyMap<string, GroupObjects>;
}

export const nothingExists: Existing = {
  infrastructureCluster: undefined,
  controlPlane: undefined,
  workers: new Map(),
};

export const workerKey = (kind: string, name: string): string => `${kind} ${name}`;

function workerObjects(world: World, object: JsonObject): GroupObjects {
  const spec = objectAt(object, 'spec', 'template', 'spec');
  const namespace = namespaceOf(object);
  return {
    object,
    bootstrap: referredInNewest(world, objectAt(spec, 'bootstrap', 'configRef'), namespace),
    infrastructure: referredInNewest(world, objectAt(spec, 'infrastructureRef'), namespace),
  };
}

/** Reads the existing objects of a Cluster; of one with a topology, those that its controller has made. */
export function existingOf(cluster: JsonObject, world: World, isTopology: boolean): Existing {
  const namespace = namespaceOf(cluster);
  const controlPlane = referredInNewest(world, objectAt(cluster, 'spec', 'controlPlaneRef'), namespace);
  const workers = new Map<string, GroupObjects>();
  for (const kind of ['MachineDeployment', 'MachinePool'] as const) {
    for (const object of world.ofCluster(kind, cluster)) {
      const labels = labelsOf(object);
      const name = isTopology ? own(labels, groupLabel[kind]) : nameOf(object);
      if (name !== undefined && (!isTopology || own(labels, ownedLabel) !== undefined)) {
        workers.set(workerKey(kind, name), workerObjects(world, object));
      }
    }
  }
  return {
    infrastructureCluster: referredInNewest(world, objectAt(cluster, 'spec', 'infrastructureRef'), namespace),
    controlPlane: controlPlane && {
      object: controlPlane,
      bootstrap: undefined,
      infrastructure: referredInNewest(world, machineTemplateOf(controlPlane), namespace),
    },
    workers,
  };
}

/** What Cluster API's webhooks look up of a Cluster. */
export const factsIn = (
  { controlPlane, workers }: Existing,
  blueprint: Blueprint | undefined,
  old: Blueprint | undefined,
): ClusterFacts => ({
  blueprint,
  oldClass: old?.spec,
  controlPlane: controlPlane?.object,
  workers: [...workers.values()].map(({ object }) => object),
});

const byGroup = perObject((objects: readonly JsonObject[]) =>
  Map.groupBy(objects, (object) => {
    const labels = labelsOf(object);
    if (own(labels, controlPlaneLabel) !== undefined) {
      return 'control-plane';
    }
    const pool = own(labels, poolLabel);
    return pool === undefined
      ? workerKey('MachineDeployment', own(labels, deploymentLabel) ?? '')
      : workerKey('MachinePool', pool);
  }),
);

/** Machines in an order that depends on nothing else: those of control planes the oldest first. */
function inOrder(machines: readonly JsonObject[], isByAge: boolean): JsonObject[] {
  const keyOf = (machine: JsonObject) =>
    isByAge ? `${textAt(machine, 'metadata', 'creationTimestamp')} ${nameOf(machine)}` : nameOf(machine);
  return machines.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

/** Of a group, or why they are not known. Machines are undefined if there are none of the whole Cluster. */
export function machinesOf(
  cluster: JsonObject,
  world: World,
  { group, kind, name }: Pick<GroupChange, 'group' | 'kind' | 'name'>,
): Pick<GroupChange, 'machineSets' | 'machines' | 'end'> {
  // A group of workers may have that name, too.
  const isControlPlane = group === 'control-plane' && !Object.hasOwn(workerLists, kind);
  const key = isControlPlane ? group : workerKey(kind, name);
  const ofGroup = (all: readonly JsonObject[]) => byGroup(all).get(key) ?? [];
  const namespace = namespaceOf(cluster);
  try {
    const all = world.ofCluster('Machine', cluster);
    const machines = inOrder(ofGroup(all), isControlPlane).map((machine) => ({
      machine,
      bootstrapConfig: referredInNewest(world, objectAt(machine, 'spec', 'bootstrap', 'configRef'), namespace),
      infrastructureMachine: referredInNewest(world, objectAt(machine, 'spec', 'infrastructureRef'), namespace),
    }));
    const machineSets = isControlPlane ? [] : ofGroup(world.ofCluster('MachineSet', cluster));
    return {
      machineSets: machineSets.map((set) => workerObjects(world, set)),
      machines: all.length === 0 ? undefined : machines,
    };
  } catch (error) {
    return { machineSets: [], machines: undefined, end: asEnd(error) };
  }
}
