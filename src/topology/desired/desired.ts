import { copyOf, type JsonObject, nameOf, namespaceOf, objectAt, textAt } from '../../kubernetes/index.ts';
import { carriedFields, pathInObject, putAt } from '../../runtimehooks/index.ts';
import { kindOfTemplate } from '../blueprint/blueprint.ts';
import { durationOf, inV1beta2 } from '../manifests/v1beta1.ts';
import {
  clusterNameLabel,
  controlPlaneMetadata,
  groupLabel,
  groupMetadata,
  type Item,
  machineFields,
  machineTemplateField,
  mergedMetadata,
  nonEmpty,
  ownedLabel,
  type PatchInput,
  placeOf,
  type WorkerPlace,
  withMetadata,
} from '../patches/items.ts';
import type { Patched } from '../patches/patch-templates.ts';
import type { GroupObjects, GroupPart } from '../world/groups.ts';
import { referenceTo } from '../world/objects.ts';
import { has } from '../world/releases.ts';

export interface DesiredGroup {
  /** `control-plane`, or the topology's name. */
  group: string;
  kind: string;
  name: string;
  objects: GroupObjects;
  items: Readonly<Partial<Record<GroupPart, Item>>>;
  /** Undefined for the control plane. */
  worker: WorkerPlace | undefined;
}

export interface Desired {
  input: PatchInput;
  patched: Patched;
  infrastructureCluster: JsonObject | undefined;
  groups: readonly DesiredGroup[];
}

const core = 'cluster.x-k8s.io/v1beta2';

/** The result of a patched template: an object, or the Cluster's own copy of the template. */
function madeOf(item: Item, name: string, { release, cluster }: PatchInput): JsonObject {
  const patched = has(release, 'templateMetadata') ? item.object : withMetadata(item.object, item);
  const { metadata, spec } = item.isObject ? objectAt(patched, 'spec', 'template') : patched;
  return {
    apiVersion: textAt(patched, 'apiVersion'),
    kind: item.isObject ? kindOfTemplate(patched) : textAt(patched, 'kind'),
    metadata: { name, namespace: namespaceOf(cluster), ...mergedMetadata([objectAt(metadata)]) },
    spec: copyOf(objectAt(spec)),
  };
}

/** computeControlPlane in exp/topology/desiredstate, v1.14. `machines`: the copy of the template of its Machines. */
function controlPlaneOf(input: PatchInput, item: Item, machines: JsonObject | undefined): JsonObject {
  const { cluster, blueprint } = input;
  const { settings, isOfOldContract: isOld } = blueprint.controlPlane;
  const { name, version } = input.controlPlane;
  const topology = objectAt(cluster, 'spec', 'topology', 'controlPlane');
  const object = madeOf(item, name, input);
  if (machines !== undefined) {
    const reference = isOld
      ? {
          apiVersion: textAt(machines, 'apiVersion'),
          kind: textAt(machines, 'kind'),
          name: nameOf(machines),
          namespace: namespaceOf(machines),
        }
      : referenceTo(machines);
    putAt(object, machineTemplateField(blueprint).split('.'), reference);
    const metadata = mergedMetadata([
      objectAt(object, 'spec', 'machineTemplate', 'metadata'),
      ...controlPlaneMetadata(cluster, blueprint),
    ]);
    putAt(object, ['spec', 'machineTemplate', 'metadata'], metadata);
  }
  for (const { field, value } of carriedFields('ControlPlane', input.release, topology, settings)) {
    const set = isOld && field.isDuration ? durationOf(value) : value;
    if (set !== undefined) {
      putAt(object, pathInObject('ControlPlane', field, isOld), set);
    }
  }
  putAt(object, ['spec', 'version'], version);
  return object;
}

/** A MachineDeployment or MachinePool (computeMachineDeployment in exp/topology/desiredstate, v1.14). */
export function workerOf(
  { cluster, release }: Pick<PatchInput, 'cluster' | 'release'>,
  worker: WorkerPlace,
  bootstrap: JsonObject,
  infrastructure: JsonObject,
): JsonObject {
  const { kind, name, topologyName, version, topology } = worker;
  const clusterName = nameOf(cluster);
  const metadata = groupMetadata(cluster, worker);
  const selector = { [clusterNameLabel]: clusterName, [ownedLabel]: '', [groupLabel[kind]]: topologyName };
  const object: JsonObject = {
    apiVersion: core,
    kind,
    metadata: { name, namespace: namespaceOf(cluster), ...metadata },
    spec: {
      clusterName,
      template: {
        ...nonEmpty('metadata', copyOf(metadata)),
        spec: {
          clusterName,
          version,
          bootstrap: { configRef: referenceTo(bootstrap) },
          infrastructureRef: referenceTo(infrastructure),
        },
      },
      ...(kind === 'MachineDeployment' && { selector: { matchLabels: selector } }),
    },
  };
  for (const { field, value } of carriedFields(kind, release, topology, worker.class?.settings)) {
    putAt(object, pathInObject(kind, field), value);
  }
  return object;
}

/** The objects of a Cluster, with its patched templates; its infrastructure exists already or not. */
export function desiredOf(input: PatchInput, patched: Patched, infrastructureClusterName: string): Desired {
  const items = new Map(patched.items.map((item) => [`${textAt(item.holder, 'kind')} ${placeOf(item.holder)}`, item]));
  const itemAt = (kind: string, name: string, fieldPath: string) =>
    items.get(`${kind} ${placeOf({ name, fieldPath })}`);
  const infrastructureItem = itemAt('Cluster', nameOf(input.cluster), 'spec.infrastructureRef');
  const groups: DesiredGroup[] = [];
  const controlPlaneItem = itemAt('Cluster', nameOf(input.cluster), 'spec.controlPlaneRef');
  if (controlPlaneItem !== undefined) {
    const { name, machineTemplateName } = input.controlPlane;
    const kind = kindOfTemplate(controlPlaneItem.object);
    const machinesItem = itemAt(kind, name, machineTemplateField(input.blueprint));
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
    const bootstrapItem = itemAt(kind, name, machineFields.bootstrap);
    const infrastructureItem = itemAt(kind, name, machineFields.infrastructure);
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
