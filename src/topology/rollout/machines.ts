import {
  type Json,
  type JsonObject,
  lastAppliedAnnotation,
  objectAt,
  objectsAt,
  textAt,
} from '../../kubernetes/index.ts';
import { machineFieldNames, writtenInPlace } from '../../runtimehooks/index.ts';
import { kindOfTemplate } from '../blueprint/blueprint.ts';
import { clonedFrom, mergedMetadata, nonEmpty } from '../patches/items.ts';
import type { ExistingMachine } from '../world/groups.ts';
import { generatedName } from '../world/names.ts';
import { nameOf, namespaceOf, referenceTo } from '../world/objects.ts';
import { kubeadmConfigSpec } from './kubeadm-configs.ts';

const clusterApi = 'cluster.x-k8s.io/v1beta2';

/** How long Cluster API tries to delete the Node of a Machine, unless somebody sets it, in seconds. */
const nodeDeletionTimeoutSeconds = 10;

/** Fields of an object that have a value. */
const picked = (object: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (object[name] === undefined ? [] : [[name, object[name]]])));

/** A time in an object, in ms since 1970; undefined if there is none. */
export function timeAt(object: JsonObject | undefined, ...path: readonly string[]): number | undefined {
  const time = Date.parse(textAt(object, ...path));
  return Number.isNaN(time) ? undefined : time;
}

/** Labels and annotations of a Machine of a control plane, and of what is made for it. */
export function controlPlaneMetadata(controlPlane: JsonObject, clusterName: string): JsonObject {
  const { labels, annotations } = objectAt(controlPlane, 'spec', 'machineTemplate', 'metadata');
  return {
    labels: {
      ...objectAt(labels),
      'cluster.x-k8s.io/cluster-name': clusterName,
      'cluster.x-k8s.io/control-plane': '',
      'cluster.x-k8s.io/control-plane-name': nameOf(controlPlane),
    },
    ...nonEmpty('annotations', objectAt(annotations)),
  };
}

/** Conditions that each Machine of a KubeadmControlPlane has to meet, and those with an etcd that it manages. */
const readinessGates = [
  'NodeKubeadmLabelsAndTaintsSet',
  'APIServerPodHealthy',
  'ControllerManagerPodHealthy',
  'SchedulerPodHealthy',
];
const etcdReadinessGates = ['EtcdPodHealthy', 'EtcdMemberHealthy'];

/** The fields of a Machine's spec that a KubeadmControlPlane writes in place. */
export function controlPlaneSettings(controlPlane: JsonObject): JsonObject {
  const settings = objectAt(controlPlane, 'spec', 'machineTemplate', 'spec');
  const external = objectAt(controlPlane, 'spec', 'kubeadmConfigSpec', 'clusterConfiguration', 'etcd', 'external');
  const mandatory = Object.keys(external).length === 0 ? [...readinessGates, ...etcdReadinessGates] : readinessGates;
  const own = objectsAt(settings, 'readinessGates').filter(
    (gate) => !mandatory.includes(textAt(gate, 'conditionType')),
  );
  return {
    ...writtenInPlace('ControlPlane', settings),
    readinessGates: [...mandatory.map((conditionType) => ({ conditionType })), ...own],
  };
}

type MachineObjects = Required<{ [Part in keyof ExistingMachine]: JsonObject }>;

/** What is made of a template for a Machine (external.CreateFromTemplate, v1.14). */
const clone = (template: JsonObject, name: string, namespace: string, metadata: JsonObject): JsonObject => ({
  apiVersion: textAt(template, 'apiVersion'),
  kind: kindOfTemplate(template),
  metadata: {
    name,
    namespace,
    ...mergedMetadata([objectAt(template, 'spec', 'template', 'metadata'), metadata, clonedFrom(template)]),
  },
  spec: objectAt(template, 'spec', 'template', 'spec'),
});

/** A Machine with what is made for it, as if it were running. */
function running(machine: JsonObject, bootstrapConfig: JsonObject, infrastructure: JsonObject): MachineObjects {
  const name = nameOf(machine);
  const providerID = `made-up://${name}`;
  const infrastructureMachine = { ...infrastructure, spec: { ...objectAt(infrastructure, 'spec'), providerID } };
  const spec = objectAt(machine, 'spec');
  return {
    machine: {
      apiVersion: clusterApi,
      kind: 'Machine',
      ...machine,
      spec: {
        ...spec,
        bootstrap: { configRef: referenceTo(bootstrapConfig), dataSecretName: name },
        infrastructureRef: referenceTo(infrastructureMachine),
        providerID,
        deletion: { nodeDeletionTimeoutSeconds, ...objectAt(spec, 'deletion') },
      },
    },
    bootstrapConfig,
    infrastructureMachine,
  };
}

/** A Machine that a KubeadmControlPlane makes, which joins, with what is made for it. */
export function controlPlaneMachine(
  controlPlane: JsonObject,
  infrastructure: JsonObject,
  clusterName: string,
  name: string,
): MachineObjects {
  const namespace = namespaceOf(controlPlane);
  const metadata = controlPlaneMetadata(controlPlane, clusterName);
  const hook = { annotations: { 'pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup': '' } };
  const version = textAt(controlPlane, 'spec', 'version');
  return running(
    {
      metadata: { name, namespace, ...mergedMetadata([metadata, hook]) },
      spec: { clusterName, version, ...controlPlaneSettings(controlPlane) },
    },
    {
      apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
      kind: 'KubeadmConfig',
      metadata: { name, namespace, ...metadata },
      spec: kubeadmConfigSpec(controlPlane, true),
    },
    clone(infrastructure, name, namespace, metadata),
  );
}

/** A Machine that a MachineSet of a MachineDeployment makes, with what is made for it. */
export function workerMachine(
  machineSet: JsonObject,
  bootstrap: JsonObject,
  infrastructure: JsonObject,
  name: string,
): MachineObjects {
  const namespace = namespaceOf(machineSet);
  const { metadata: ofTemplate = {}, spec = {} } = objectAt(machineSet, 'spec', 'template');
  const own = {
    'cluster.x-k8s.io/deployment-name': textAt(machineSet, 'metadata', 'labels', 'cluster.x-k8s.io/deployment-name'),
    'cluster.x-k8s.io/set-name': nameOf(machineSet),
  };
  const metadata = mergedMetadata([objectAt(ofTemplate), { labels: own }]);
  return running(
    { metadata: { name, namespace, ...metadata }, spec },
    clone(bootstrap, name, namespace, metadata),
    clone(infrastructure, name, namespace, metadata),
  );
}

/** Annotations that nobody wants, but somebody needs. */
export const bookkeeping = [
  lastAppliedAnnotation,
  'machinedeployment.clusters.x-k8s.io/revision',
  'cluster.x-k8s.io/conversion-data',
];

/** A number of Machines, or a percentage of the replicas. */
function portion(value: Json | undefined, replicas: number, round: (number: number) => number, otherwise: number) {
  const percent = typeof value === 'string' ? /^(\d{1,3})%$/.exec(value)?.[1] : undefined;
  return percent === undefined
    ? typeof value === 'number'
      ? value
      : otherwise
    : round((Number(percent) * replicas) / 100);
}

/** More Machines than a group has: a number in a file must not decide how much work there is. */
const maxReplicas = 100_000;

/** The replicas of a control plane, MachineDeployment or MachinePool; 1 if it has no whole number. */
export function replicasOf(object: JsonObject | undefined): number {
  const { replicas } = objectAt(object, 'spec');
  return Number.isInteger(replicas) ? Math.min(Math.max(0, Number(replicas)), maxReplicas) : 1;
}

/** The limits of a rolling update of a MachineDeployment (mdutil.ResolveFenceposts, v1.14). */
export function fencepostsOf(machineDeployment: JsonObject): { maxSurge: number; maxUnavailable: number } {
  const replicas = replicasOf(machineDeployment);
  const settings = objectAt(machineDeployment, 'spec', 'rollout', 'strategy', 'rollingUpdate');
  const maxSurge = portion(settings.maxSurge, replicas, Math.ceil, 1);
  const maxUnavailable = portion(settings.maxUnavailable, replicas, Math.floor, 0);
  return { maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}

/** The fields of a Machine's spec that a MachineDeployment writes in place. */
const deploymentSettings = (machineDeployment: JsonObject): JsonObject =>
  writtenInPlace('MachineDeployment', objectAt(machineDeployment, 'spec', 'template', 'spec'));

/** Fields of a Machine's spec that need another MachineSet. */
export const comparedFields = [
  'version',
  'bootstrap',
  'infrastructureRef',
  ...machineFieldNames('MachineDeployment', 'newMachines'),
];

/** The number of a MachineSet among those of its MachineDeployment. */
export const revisionOf = (machineSet: JsonObject): number =>
  Number(textAt(machineSet, 'metadata', 'annotations', 'machinedeployment.clusters.x-k8s.io/revision')) || 1;

/** What names the MachineSets of a MachineDeployment, which are numbered: made-up suffixes, the same in each run. */
export function machineSetId(machineDeployment: string, revision: number) {
  const suffix = generatedName('', `${machineDeployment} ${revision}`).slice(1);
  return { name: `${machineDeployment}-${suffix}`, hash: `${revision}-${suffix}`, revision };
}

/**
 * A MachineSet that a MachineDeployment makes, as in requests of CanUpdateMachineSet.
 *
 * @param settled the spec of the Machines of an older one, of which only some fields follow the MachineDeployment.
 */
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
    apiVersion: clusterApi,
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
        spec: { ...picked(settled, ['clusterName', ...comparedFields]), ...deploymentSettings(machineDeployment) },
      },
      ...(order !== '' && { deletion: { order } }),
      ...(machineNaming !== undefined && { machineNaming }),
    },
  };
}
