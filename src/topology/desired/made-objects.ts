import { copyOf, type JsonObject, objectAt, textAt } from '../../kubernetes/index.ts';
import { carriedFields, pathInObject, pathInOldControlPlane, putAt } from '../../runtimehooks/index.ts';
import { kindOfTemplate } from '../blueprint/blueprint.ts';
import { nameOf, namespaceOf, referenceTo } from '../objects/objects.ts';
import { has } from '../objects/releases.ts';
import { durationOf } from '../objects/v1beta1.ts';
import {
  clusterNameLabel,
  controlPlaneMetadata,
  groupLabel,
  groupMetadata,
  type Item,
  machineTemplateField,
  mergedMetadata,
  nonEmpty,
  ownedLabel,
  type PatchInput,
  type WorkerPlace,
  withMetadata,
} from '../patches/items.ts';

const core = 'cluster.x-k8s.io/v1beta2';

/** What is made of a patched template: an object, or the Cluster's own copy of the template. */
export function madeOf(item: Item, name: string, { release, cluster }: PatchInput): JsonObject {
  const patched = has(release, 'templateMetadata') ? item.object : withMetadata(item.object, item);
  const { metadata, spec } = item.isObject ? objectAt(patched, 'spec', 'template') : patched;
  return {
    apiVersion: textAt(patched, 'apiVersion'),
    kind: item.isObject ? kindOfTemplate(patched) : textAt(patched, 'kind'),
    metadata: { name, namespace: namespaceOf(cluster), ...mergedMetadata([objectAt(metadata)]) },
    spec: copyOf(objectAt(spec)),
  };
}

/**
 * The control plane of a Cluster (computeControlPlane in exp/topology/desiredstate, v1.14).
 *
 * @param machines the Cluster's own copy of the template of its machines, if the class has one.
 */
export function controlPlaneOf(input: PatchInput, item: Item, machines: JsonObject | undefined): JsonObject {
  const { cluster, blueprint } = input;
  const { settings } = blueprint.controlPlane;
  const { name, version } = input.controlPlane;
  const topology = objectAt(cluster, 'spec', 'topology', 'controlPlane');
  const object = madeOf(item, name, input);
  const isOld = textAt(object, 'apiVersion').endsWith('/v1beta1');
  if (machines !== undefined) {
    const reference = isOld
      ? {
          apiVersion: textAt(machines, 'apiVersion'),
          kind: textAt(machines, 'kind'),
          name: nameOf(machines),
          namespace: namespaceOf(machines),
        }
      : referenceTo(machines);
    putAt(object, machineTemplateField(object).split('.'), reference);
    const metadata = mergedMetadata([
      objectAt(object, 'spec', 'machineTemplate', 'metadata'),
      ...controlPlaneMetadata(cluster, blueprint),
    ]);
    putAt(object, ['spec', 'machineTemplate', 'metadata'], metadata);
  }
  for (const { field, value } of carriedFields('ControlPlane', input.release, topology, settings)) {
    const old = field.isDuration ? durationOf(value) : value;
    if (isOld && old !== undefined) {
      putAt(object, pathInOldControlPlane(field), old);
    } else if (!isOld) {
      putAt(object, pathInObject('ControlPlane', field), value);
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
