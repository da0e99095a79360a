import { type JsonObject, objectAt, objectsAt, textAt } from '../../kubernetes/index.ts';
import { kindOfTemplate } from '../blueprint/blueprint.ts';
import type { GroupObjects, GroupPart } from '../objects/groups.ts';
import { nameOf } from '../objects/objects.ts';
import { inV1beta2 } from '../objects/v1beta1.ts';
import { type Item, machineFields, machineTemplateField, type PatchInput, type WorkerPlace } from '../patches/items.ts';
import type { Patched } from '../patches/patch-templates.ts';
import { controlPlaneOf, madeOf, workerOf } from './made-objects.ts';

/** A group of Machines as Cluster API wants it. */
export interface DesiredGroup {
  /** `control-plane`, or the topology's name. */
  group: string;
  kind: string;
  name: string;
  objects: GroupObjects;
  /** The patched templates that the objects are made of. */
  items: Readonly<Partial<Record<GroupPart, Item>>>;
  /** Undefined for the control plane. */
  worker: WorkerPlace | undefined;
}

/** What Cluster API makes of a Cluster. */
export interface Desired {
  input: PatchInput;
  patched: Patched;
  infrastructureCluster: JsonObject | undefined;
  /** The control plane comes first. */
  groups: readonly DesiredGroup[];
}

/**
 * The objects of a Cluster, with its patched templates.
 *
 * @param infrastructureClusterName of the object, which exists already or not.
 */
export function desiredOf(input: PatchInput, patched: Patched, infrastructureClusterName: string): Desired {
  const itemAt = new Map(
    patched.items.map((item) => [
      `${textAt(item.holder, 'kind')} ${textAt(item.holder, 'name')} ${textAt(item.holder, 'fieldPath')}`,
      item,
    ]),
  );
  const cluster = nameOf(input.cluster);
  const infrastructureItem = itemAt.get(`Cluster ${cluster} spec.infrastructureRef`);
  const groups: DesiredGroup[] = [];
  const controlPlaneItem = itemAt.get(`Cluster ${cluster} spec.controlPlaneRef`);
  if (controlPlaneItem !== undefined) {
    const { name, machineTemplateName } = input.controlPlane;
    const kind = kindOfTemplate(controlPlaneItem.object);
    const machinesItem = itemAt.get(`${kind} ${name} ${machineTemplateField(controlPlaneItem.object)}`);
    const infrastructure = machinesItem && madeOf(machinesItem, machineTemplateName, input);
    const object = controlPlaneOf(input, controlPlaneItem, infrastructure);
    groups.push({
      group: 'control-plane',
      kind,
      name,
      objects: { object: inV1beta2(object), bootstrap: undefined, infrastructure },
      items: { object: controlPlaneItem, ...(machinesItem && { infrastructure: machinesItem }) },
      worker: undefined,
    });
  }
  for (const worker of input.workers) {
    const { kind, name, topologyName, templateNames } = worker;
    const [bootstrapItem, infrastructureItem] = [machineFields.bootstrap, machineFields.infrastructure].map((field) =>
      itemAt.get(`${kind} ${name} ${field}`),
    );
    if (bootstrapItem === undefined || infrastructureItem === undefined) {
      continue;
    }
    const bootstrap = inV1beta2(madeOf(bootstrapItem, templateNames.bootstrap, input));
    const infrastructure = madeOf(infrastructureItem, templateNames.infrastructure, input);
    groups.push({
      group: topologyName,
      kind,
      name,
      objects: { object: workerOf(input, worker, bootstrap, infrastructure), bootstrap, infrastructure },
      items: { bootstrap: bootstrapItem, infrastructure: infrastructureItem },
      worker,
    });
  }
  return {
    input,
    patched,
    infrastructureCluster: infrastructureItem && madeOf(infrastructureItem, infrastructureClusterName, input),
    groups,
  };
}

/** The groups of workers in a topology, with their kinds. */
export const topologyWorkers = (cluster: JsonObject): { kind: WorkerPlace['kind']; topology: JsonObject }[] =>
  (['MachineDeployment', 'MachinePool'] as const).flatMap((kind) =>
    objectsAt(cluster, 'spec', 'topology', 'workers', workerLists[kind]).map((topology) => ({ kind, topology })),
  );

/** The lists of groups of workers, in topologies and classes. */
export const workerLists = { MachineDeployment: 'machineDeployments', MachinePool: 'machinePools' } as const;

/** Whether a Cluster has a topology. */
export const hasTopology = (cluster: JsonObject): boolean =>
  Object.keys(objectAt(cluster, 'spec', 'topology')).length > 0;
