import {
  copyOf,
  fieldAt,
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  setOwn,
  textAt,
} from '../../kubernetes/index.ts';
import { kindOfTemplate } from '../blueprint/blueprint.ts';
import { groupOf, nameOf, namespaceOf } from '../objects/objects.ts';
import { has } from '../objects/releases.ts';
import {
  clusterNameLabel,
  controlPlaneMetadata,
  groupLabel,
  groupMetadata,
  type Item,
  machineTemplateField,
  machineTimeouts,
  mergedMetadata,
  nonEmpty,
  ownedLabel,
  type PatchInput,
  type WorkerPlace,
  withMetadata,
} from '../patches/items.ts';

const core = 'cluster.x-k8s.io/v1beta2';

/** Fields of an object whose values are neither absent nor empty objects. */
const present = (fields: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).filter(
      (entry): entry is [string, Json] =>
        entry[1] !== undefined && !(isJsonObject(entry[1]) && Object.keys(entry[1]).length === 0),
    ),
  );

/** What is made of a patched template: an object, or the Cluster's own copy of the template. */
export function madeOf(item: Item, name: string, { release, cluster }: PatchInput): JsonObject {
  const patched = has(release, 'templateMetadata') ? item.object : withMetadata(item.object, item);
  const { labels, annotations } = objectAt(
    patched,
    ...(item.isObject ? ['spec', 'template', 'metadata'] : ['metadata']),
  );
  const metadata = { name, namespace: namespaceOf(cluster), ...present({ labels, annotations }) };
  return {
    apiVersion: textAt(patched, 'apiVersion'),
    kind: item.isObject ? kindOfTemplate(patched) : textAt(patched, 'kind'),
    metadata,
    spec: copyOf(item.isObject ? objectAt(patched, 'spec', 'template', 'spec') : objectAt(patched, 'spec')),
  };
}

function put(object: JsonObject, path: readonly string[], value: Json): void {
  let holder = object;
  for (const name of path.slice(0, -1)) {
    const inner = holder[name];
    const next = isJsonObject(inner) ? inner : {};
    setOwn(holder, name, next);
    holder = next;
  }
  setOwn(holder, path.at(-1) ?? '', value);
}

/** A duration as Go prints it. */
const duration = (seconds: number): string => {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds % 60}s`;
};

const referenceTo = (object: JsonObject): JsonObject => ({
  apiGroup: groupOf(object),
  kind: textAt(object, 'kind'),
  name: nameOf(object),
});

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
  const machineSpec = ['spec', 'machineTemplate', ...(isOld ? [] : ['spec'])];
  const setting = (...path: string[]) => fieldAt(topology, ...path) ?? fieldAt(settings, ...path);
  if (machines !== undefined) {
    const reference = isOld
      ? {
          apiVersion: textAt(machines, 'apiVersion'),
          kind: textAt(machines, 'kind'),
          name: nameOf(machines),
          namespace: namespaceOf(machines),
        }
      : referenceTo(machines);
    put(object, machineTemplateField(object).split('.'), reference);
    const metadata = mergedMetadata([
      objectAt(object, 'spec', 'machineTemplate', 'metadata'),
      ...controlPlaneMetadata(cluster, blueprint),
    ]);
    put(object, ['spec', 'machineTemplate', 'metadata'], metadata);
  }
  if (topology.replicas !== undefined) {
    put(object, ['spec', 'replicas'], topology.replicas);
  }
  const after = fieldAt(topology, 'rollout', 'after');
  if (after !== undefined) {
    put(object, ['spec', 'rollout', 'after'], after);
  }
  for (const field of ['readinessGates', 'taints']) {
    const value = setting(field);
    if (value !== undefined) {
      put(object, [...machineSpec, field], value);
    }
  }
  for (const field of machineTimeouts) {
    const seconds = setting('deletion', field);
    if (typeof seconds === 'number') {
      const [path, value] = isOld
        ? [[...machineSpec, field.replace(/Seconds$/, '')], duration(seconds)]
        : [[...machineSpec, 'deletion', field], seconds];
      put(object, path as string[], value as Json);
    }
  }
  put(object, ['spec', 'version'], version);
  return object;
}

/** A MachineDeployment or MachinePool (computeMachineDeployment in exp/topology/desiredstate, v1.14). */
export function workerOf(
  { cluster }: PatchInput,
  worker: WorkerPlace,
  bootstrap: JsonObject,
  infrastructure: JsonObject,
): JsonObject {
  const { kind, name, topologyName, version, topology } = worker;
  const settings = objectAt(worker.class?.settings);
  const clusterName = nameOf(cluster);
  const setting = (...path: string[]) => fieldAt(topology, ...path) ?? fieldAt(settings, ...path);
  const { labels, annotations } = groupMetadata(cluster, worker);
  const metadata = present({ labels, annotations });
  const isDeployment = kind === 'MachineDeployment';
  const rollout = objectAt(topology, 'rollout');
  const deletion = Object.fromEntries(machineTimeouts.map((field) => [field, setting('deletion', field)]));
  const spec = present({
    clusterName,
    version,
    bootstrap: { configRef: referenceTo(bootstrap) },
    infrastructureRef: referenceTo(infrastructure),
    deletion: present(deletion),
    taints: setting('taints'),
    minReadySeconds: setting('minReadySeconds'),
    ...(isDeployment && { failureDomain: setting('failureDomain'), readinessGates: setting('readinessGates') }),
  });
  const selector = { [clusterNameLabel]: clusterName, [ownedLabel]: '', [groupLabel[kind]]: topologyName };
  return {
    apiVersion: core,
    kind,
    metadata: { name, namespace: namespaceOf(cluster), ...metadata },
    spec: present({
      clusterName,
      replicas: topology.replicas,
      template: { ...nonEmpty('metadata', copyOf(metadata)), spec },
      ...(isDeployment
        ? {
            rollout:
              Object.keys(rollout).length > 0
                ? present({ after: rollout.after, strategy: rollout.strategy })
                : present({ strategy: fieldAt(settings, 'rollout', 'strategy') }),
            deletion: present({ order: setting('deletion', 'order') }),
            remediation: present({ maxInFlight: setting('healthCheck', 'remediation', 'maxInFlight') }),
            selector: { matchLabels: selector },
          }
        : { failureDomains: setting('failureDomains') }),
    }),
  };
}
