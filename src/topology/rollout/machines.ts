import {
  type JsonObject,
  lastAppliedAnnotation,
  nameOf,
  namespaceOf,
  objectAt,
  textAt,
} from '../../kubernetes/index.ts';
import { machineFieldNames, writtenInPlace } from '../../runtimehooks/index.ts';
import { controlPlaneOf } from '../control-planes/index.ts';
import { nonEmpty } from '../patches/items.ts';
import { generatedName } from '../world/names.ts';
import { picked, portion } from '../world/objects.ts';

/** Annotations that nobody wants, but somebody needs. */
export const bookkeeping = [
  lastAppliedAnnotation,
  'machinedeployment.clusters.x-k8s.io/revision',
  'cluster.x-k8s.io/conversion-data',
];

/** A number in a file must not decide how much work there is. */
const maxReplicas = 100_000;

/** Whether a group has Machines: control planes that run in Pods, or in the service of a cloud, do not. */
export const hasMachines = (object: JsonObject | undefined): boolean =>
  object === undefined || controlPlaneOf(object)?.hasMachines !== false;

/** How many Machines a control plane, MachineDeployment or MachinePool wants; 1 if it has no whole number. */
export function replicasOf(object: JsonObject | undefined): number {
  if (!hasMachines(object)) {
    return 0;
  }
  const { replicas } = objectAt(object, 'spec');
  return Number.isInteger(replicas) ? Math.min(Math.max(0, Number(replicas)), maxReplicas) : 1;
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((one, other) => one + other, 0);

/** The limits of a rolling update of a MachineDeployment (mdutil.ResolveFenceposts, v1.14). */
export function fencepostsOf(machineDeployment: JsonObject): { maxSurge: number; maxUnavailable: number } {
  const replicas = replicasOf(machineDeployment);
  const settings = objectAt(machineDeployment, 'spec', 'rollout', 'strategy', 'rollingUpdate');
  const maxSurge = portion(settings.maxSurge, replicas, Math.ceil, 1);
  const maxUnavailable = portion(settings.maxUnavailable, replicas, Math.floor, 0);
  return { maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}

export const comparedFields = [
  'version',
  'bootstrap',
  'infrastructureRef',
  ...machineFieldNames('MachineDeployment', 'newMachines'),
];

/** Names the MachineSets of a MachineDeployment, which are numbered: made-up suffixes, the same in each run. */
export function machineSetId(machineDeployment: string, revision: number) {
  const suffix = generatedName('', `${machineDeployment} ${revision}`).slice(1);
  return { name: `${machineDeployment}-${suffix}`, hash: `${revision}-${suffix}`, revision };
}

/** As in requests of CanUpdateMachineSet; `settled`: the spec of an older one's Machines, of which only some fields change. */
export function machineSetOf(
  machineDeployment: JsonObject,
  { name, hash, revision }: { name: string; hash: string; revision: number },
  replicas: number,
  settled: JsonObject = objectAt(machineDeployment, 'spec', 'template', 'spec'),
): JsonObject {
  const { metadata, spec } = machineDeployment;
  const { clusterName, selector, template, deletion, machineNaming, rollout } = objectAt(spec);
  const { labels, annotations } = objectAt(template, 'metadata');
  const copied = Object.entries(objectAt(metadata, 'annotations')).filter(([key]) => !bookkeeping.includes(key));
  const hashLabel = { 'machine-template-hash': hash };
  const isOnDelete = textAt(rollout, 'strategy', 'type') === 'OnDelete';
  const wanted = replicasOf(machineDeployment);
  const { maxSurge } = isOnDelete ? { maxSurge: 0 } : fencepostsOf(machineDeployment);
  const order = textAt(deletion, 'order');
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineSet',
    metadata: {
      name,
      namespace: namespaceOf(machineDeployment),
      labels: { ...objectAt(labels), 'cluster.x-k8s.io/deployment-name': nameOf(machineDeployment), ...hashLabel },
      annotations: {
        ...Object.fromEntries(copied),
        'cluster.x-k8s.io/disable-machine-create': 'false',
        'machinedeployment.clusters.x-k8s.io/desired-replicas': String(wanted),
        'machinedeployment.clusters.x-k8s.io/max-replicas': String(wanted + maxSurge),
        'machinedeployment.clusters.x-k8s.io/revision': String(revision),
      },
    },
    spec: {
      ...(clusterName !== undefined && { clusterName }),
      replicas,
      selector: { ...objectAt(selector), matchLabels: { ...objectAt(selector, 'matchLabels'), ...hashLabel } },
      template: {
        metadata: {
          labels: { ...objectAt(labels), ...hashLabel },
          ...nonEmpty('annotations', objectAt(annotations)),
        },
        spec: {
          ...picked(settled, ['clusterName', ...comparedFields]),
          ...writtenInPlace('MachineDeployment', objectAt(template, 'spec')),
        },
      },
      ...(order !== '' && { deletion: { order } }),
      ...(machineNaming !== undefined && { machineNaming }),
    },
  };
}
