import { createHash } from 'node:crypto';
import { pendingHooksAnnotation } from '../../../extensionconfig/index.ts';
import { copyOf, fieldAt, isSame, type JsonObject, objectAt, textAt } from '../../../kubernetes/index.ts';
import {
  type GroupMachines,
  type Machine,
  type MachineSet,
  type MachineTemplateObjects,
  replicasOf,
  type State,
  topologyOf,
  type WorkerGroup,
} from '../cluster/state.ts';
import {
  clonedFrom,
  groupMetadata,
  kindOfTemplate,
  machineFields,
  machineTimeouts,
  mergedMetadata,
  nonEmpty,
} from '../topology/items.ts';

/** Maximum number of Machines of a group that are played individually: the others behave in the same way. */
const maxMachines = 10;

const apiVersion = 'cluster.x-k8s.io/v1beta2';
/** Marks a Machine and its objects during an update. */
const inProgress = 'in-place-updates.internal.cluster.x-k8s.io/update-in-progress';

/** Templates of Cluster API's own providers for development, for groups of which nothing is known. */
const unknownTemplates: MachineTemplateObjects = {
  bootstrap: {
    apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
    kind: 'KubeadmConfigTemplate',
    metadata: { name: 'unknown' },
    spec: { template: { spec: {} } },
  },
  infrastructure: {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
    kind: 'DockerMachineTemplate',
    metadata: { name: 'unknown' },
    spec: { template: { spec: {} } },
  },
};

/** Whether the templates of a group of workers are known. */
export const hasTemplates = (state: State, { name }: WorkerGroup): boolean =>
  state.patched.has(`${name} ${machineFields.infrastructure}`);

/** The templates of a group: those of the class with all patches, with names that change with their content. */
function templatesOf(state: State, worker: WorkerGroup, known: MachineSet | undefined): MachineTemplateObjects {
  const objectFrom = (part: keyof MachineTemplateObjects): JsonObject => {
    const patched = state.patched.get(`${worker.name} ${machineFields[part]}`) ?? unknownTemplates[part];
    const { labels, annotations } = objectAt(patched, 'metadata');
    const content: JsonObject = {
      apiVersion: textAt(patched, 'apiVersion'),
      kind: textAt(patched, 'kind'),
      spec: patched.spec ?? {},
    };
    const before = known?.[part];
    const isKnown = before !== undefined && isSame(before.spec, content.spec);
    const base = `${textAt(state.cluster, 'metadata', 'name')}-${worker.topologyName}`;
    const purpose = `${kindOfTemplate(patched)}${known === undefined ? '' : ` ${known.revision + 1}`}`;
    return {
      ...content,
      metadata: {
        name: isKnown ? textAt(before, 'metadata', 'name') : state.names.generated(base, purpose),
        namespace: textAt(state.cluster, 'metadata', 'namespace'),
        ...(labels !== undefined && { labels }),
        ...(annotations !== undefined && { annotations }),
      },
    };
  };
  return { bootstrap: objectFrom('bootstrap'), infrastructure: objectFrom('infrastructure') };
}

function machineSet(state: State, worker: WorkerGroup, version: string, before: MachineSet | undefined): MachineSet {
  const templates = templatesOf(state, worker, before);
  const revision = (before?.revision ?? 0) + 1;
  const suffix = state.names.generated('', `${worker.name} ${revision}`).slice(1);
  const digest = createHash('sha256')
    .update(JSON.stringify([templates, version]))
    .digest();
  return {
    ...templates,
    name: `${worker.name}-${suffix}`,
    hash: `${digest.readUInt32BE(0)}-${suffix}`,
    revision,
    version,
  };
}

/** A new Machine of a MachineSet. */
export const newMachine = (state: State, set: MachineSet, number: number): Machine => ({
  name: state.names.generated(set.name, `machine ${number}`),
  set,
});

/** The MachineSet and the Machines of a group, which are made when it is first asked for. */
export function groupOf(state: State, worker: WorkerGroup, version: string): GroupMachines {
  const known = state.machines.get(worker.name);
  if (known !== undefined) {
    return known;
  }
  const current = machineSet(state, worker, version, undefined);
  const count = Math.min(replicasOf(state, worker), maxMachines);
  const machines = Array.from({ length: count }, (_, index) => newMachine(state, current, index));
  const group = { current, machines, next: undefined };
  state.machines.set(worker.name, group);
  return group;
}

/**
 * Compares what a group has with what it should have, as the controller of MachineDeployments does: when the version or
 * a template has changed, it gets another MachineSet.
 *
 * @returns whether a rollout begins.
 */
export function beginRollout(state: State, worker: WorkerGroup, version: string): boolean {
  const known = groupOf(state, worker, version);
  const next = machineSet(state, worker, version, known.current);
  const newest = known.next ?? known.current;
  const isSameTemplate = (part: keyof MachineTemplateObjects) => isSame(newest[part].spec, next[part].spec);
  if (newest.version === version && isSameTemplate('bootstrap') && isSameTemplate('infrastructure')) {
    return false;
  }
  known.next = next;
  return true;
}

/** Why a Machine is not what its group should have, in the words of its condition UpToDate. */
export function differences(current: MachineSet, desired: MachineSet): string[] {
  const differs = (part: keyof MachineTemplateObjects) => !isSame(current[part].spec, desired[part].spec);
  return [
    ...(current.version === desired.version ? [] : [`Version ${current.version}, ${desired.version} required`]),
    ...(['bootstrap', 'infrastructure'] as const)
      .filter(differs)
      .map((part) => `${kindOfTemplate(desired[part])} is not up-to-date`),
  ];
}

/** Settings of a group, from the topology or else from the class. */
function settingOf(state: State, worker: WorkerGroup, ...path: string[]) {
  const ofClass = state.subject.blueprint?.machineDeployments.get(worker.class)?.settings;
  return fieldAt(topologyOf(state, worker), ...path) ?? fieldAt(ofClass, ...path);
}

/** A number of Machines or a percentage of them. */
function portion(value: unknown, replicas: number, round: (number: number) => number, otherwise: number): number {
  const percent = typeof value === 'string' ? /^(\d{1,3})%$/.exec(value)?.[1] : undefined;
  return percent === undefined
    ? typeof value === 'number'
      ? value
      : otherwise
    : round((Number(percent) * replicas) / 100);
}

/** The strategy of a rollout. That of the topology replaces that of the class as a whole. */
const rolloutOf = (state: State, worker: WorkerGroup) => objectAt(settingOf(state, worker, 'rollout'), 'strategy');

/** Whether old Machines stay until somebody deletes them. */
export const waitsForDeletion = (state: State, worker: WorkerGroup): boolean =>
  worker.kind === 'MachineDeployment' && rolloutOf(state, worker).type === 'OnDelete';

/** How many Machines a rollout may create beyond the replicas, and how many may be unavailable. */
export function strategyOf(state: State, worker: WorkerGroup): { maxSurge: number; maxUnavailable: number } {
  const replicas = replicasOf(state, worker);
  const of = (field: string) => fieldAt(rolloutOf(state, worker), 'rollingUpdate', field);
  const maxSurge = portion(of('maxSurge'), replicas, Math.ceil, 1);
  const maxUnavailable = portion(of('maxUnavailable'), replicas, Math.floor, 0);
  return { maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}

const reference = (object: JsonObject, kind: string, name: string): JsonObject => ({
  kind,
  name,
  apiGroup: textAt(object, 'apiVersion').split('/')[0] ?? '',
});

/** Labels and annotations of the Machines of a group. */
const metadataOf = (state: State, worker: WorkerGroup) => {
  const settings = state.subject.blueprint?.machineDeployments.get(worker.class)?.settings;
  const { labels, annotations } = groupMetadata(state, worker, objectAt(settings, 'metadata'));
  return { labels: objectAt(labels), annotations: objectAt(annotations) };
};

const optionalFields = ['failureDomain', 'minReadySeconds', 'readinessGates', 'taints'] as const;

/** The fields of Machines that topology and class may set. */
function optionalSpec(state: State, worker: WorkerGroup): JsonObject {
  const set = (fields: readonly string[], ...path: string[]): JsonObject =>
    Object.fromEntries(
      fields.flatMap((field) => {
        const value = settingOf(state, worker, ...path, field);
        return value === undefined ? [] : [[field, value]];
      }),
    );
  return { ...set(optionalFields), ...nonEmpty('deletion', set(machineTimeouts, 'deletion')) };
}

/** A MachineSet and its templates as in requests of CanUpdateMachineSet. */
export function machineSetObjects(state: State, worker: WorkerGroup, set: MachineSet, replicas: number): JsonObject {
  const cluster = textAt(state.cluster, 'metadata', 'name');
  const { labels, annotations } = metadataOf(state, worker);
  const hash = { 'machine-template-hash': set.hash };
  const { maxSurge } = strategyOf(state, worker);
  const order = settingOf(state, worker, 'deletion', 'order');
  const selected = [
    'cluster.x-k8s.io/cluster-name',
    'topology.cluster.x-k8s.io/deployment-name',
    'topology.cluster.x-k8s.io/owned',
  ];
  return {
    machineSet: {
      apiVersion,
      kind: 'MachineSet',
      metadata: {
        name: set.name,
        namespace: textAt(state.cluster, 'metadata', 'namespace'),
        labels: { ...labels, 'cluster.x-k8s.io/deployment-name': worker.name, ...hash },
        annotations: {
          ...annotations,
          'cluster.x-k8s.io/disable-machine-create': 'false',
          'machinedeployment.clusters.x-k8s.io/desired-replicas': String(replicasOf(state, worker)),
          'machinedeployment.clusters.x-k8s.io/max-replicas': String(replicasOf(state, worker) + maxSurge),
          'machinedeployment.clusters.x-k8s.io/revision': String(set.revision),
        },
      },
      spec: {
        clusterName: cluster,
        replicas,
        ...(order !== undefined && { deletion: { order } }),
        selector: {
          matchLabels: { ...Object.fromEntries(selected.map((name) => [name, labels[name] ?? ''])), ...hash },
        },
        template: {
          metadata: {
            labels: { ...labels, ...hash },
            ...(Object.keys(annotations).length > 0 && { annotations }),
          },
          spec: {
            clusterName: cluster,
            bootstrap: {
              configRef: reference(
                set.bootstrap,
                textAt(set.bootstrap, 'kind'),
                textAt(set.bootstrap, 'metadata', 'name'),
              ),
            },
            infrastructureRef: reference(
              set.infrastructure,
              textAt(set.infrastructure, 'kind'),
              textAt(set.infrastructure, 'metadata', 'name'),
            ),
            version: set.version,
            ...optionalSpec(state, worker),
          },
        },
      },
    },
    infrastructureMachineTemplate: copyOf(set.infrastructure),
    bootstrapConfigTemplate: copyOf(set.bootstrap),
  };
}

/** An object made of a template, without its name. */
const madeOf = (template: JsonObject, metadata: JsonObject, spec: JsonObject = {}): JsonObject => ({
  apiVersion: textAt(template, 'apiVersion'),
  kind: kindOfTemplate(template),
  metadata,
  spec: { ...objectAt(template, 'spec', 'template', 'spec'), ...spec },
});

/** A Machine as in requests, with what is made for it: objects without their names. */
function withObjects(
  { cluster }: State,
  name: string,
  metadata: JsonObject,
  { bootstrap, infrastructure }: MachineTemplateObjects,
  spec: JsonObject,
): JsonObject {
  const namespace = textAt(cluster, 'metadata', 'namespace');
  const object = (content: JsonObject) => ({
    ...content,
    metadata: { name, namespace, ...objectAt(content, 'metadata') },
  });
  const referenceTo = (content: JsonObject) => reference(content, textAt(content, 'kind'), name);
  const references = {
    clusterName: textAt(cluster, 'metadata', 'name'),
    bootstrap: { configRef: referenceTo(bootstrap), dataSecretName: name },
    infrastructureRef: referenceTo(infrastructure),
  };
  return {
    machine: object({ apiVersion, kind: 'Machine', metadata, spec: { ...references, ...spec } }),
    infrastructureMachine: object(infrastructure),
    bootstrapConfig: object(bootstrap),
  };
}

/** How long Cluster API tries to delete the Node of a Machine, unless somebody sets it, in seconds. */
const nodeDeletionTimeoutSeconds = 10;

/** A Machine with its objects as in requests of UpdateMachine. */
export function machineObjects(state: State, worker: WorkerGroup, { name, set }: Machine): JsonObject {
  const { labels: own, annotations } = metadataOf(state, worker);
  const labels = {
    ...own,
    'cluster.x-k8s.io/deployment-name': worker.name,
    'cluster.x-k8s.io/set-name': set.name,
    'machine-template-hash': set.hash,
  };
  const providerID = `rehearsal://${name}`;
  const objectFrom = (template: JsonObject, spec: JsonObject): JsonObject => {
    const marks = { annotations: { ...clonedFrom(template).annotations, [inProgress]: '' } };
    const metadata = mergedMetadata([
      objectAt(template, 'spec', 'template', 'metadata'),
      { labels, annotations },
      marks,
    ]);
    return madeOf(template, metadata, spec);
  };
  const optional = optionalSpec(state, worker);
  const deletion = { nodeDeletionTimeoutSeconds, ...objectAt(optional, 'deletion') };
  return withObjects(
    state,
    name,
    { labels, annotations: { ...annotations, [inProgress]: '', [pendingHooksAnnotation]: 'UpdateMachine' } },
    { bootstrap: objectFrom(set.bootstrap, {}), infrastructure: objectFrom(set.infrastructure, { providerID }) },
    { version: set.version, providerID, ...optional, deletion },
  );
}

/** The control plane as the class and its patches have it; undefined if its template is not known. */
export const controlPlaneOf = ({ patched, cluster }: State): JsonObject | undefined =>
  patched.get(`${textAt(cluster, 'metadata', 'name')} spec.controlPlaneRef`);

/** A machine of the control plane with its objects, in one version. */
export function controlPlaneObjects(state: State, name: string, version: string): JsonObject {
  const metadata = {
    labels: {
      'cluster.x-k8s.io/cluster-name': textAt(state.cluster, 'metadata', 'name'),
      'cluster.x-k8s.io/control-plane': '',
      'cluster.x-k8s.io/control-plane-name': state.controlPlane.name,
    },
  };
  const [, template = unknownTemplates.infrastructure] =
    [...state.patched].find(([place]) => place.startsWith(`${state.controlPlane.name} `)) ?? [];
  const kubeadmConfig = objectAt(controlPlaneOf(state), 'spec', 'template', 'spec', 'kubeadmConfigSpec');
  const objects = {
    bootstrap: madeOf(unknownTemplates.bootstrap, metadata, kubeadmConfig),
    infrastructure: madeOf(template, metadata),
  };
  return withObjects(state, name, metadata, objects, { version });
}
