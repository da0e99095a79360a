import { pendingHooksAnnotation } from '../../../extensionconfig/index.ts';
import { isSame, type JsonObject, objectAt, textAt } from '../../../kubernetes/index.ts';
import { carriedFields, machineSpecOf, pathInObject, putAt } from '../../../runtimehooks/index.ts';
import {
  clonedFrom,
  fencepostsOf,
  groupMetadata,
  kindOfTemplate,
  machineFields,
  machineSetOf,
  machineSetParts,
  mergedMetadata,
  nonEmpty,
  ownFeatureGates,
} from '../../../topology/index.ts';
import type {
  GroupMachines,
  Machine,
  MachineSet,
  MachineTemplateObjects,
  State,
  WorkerGroup,
} from '../cluster/state.ts';

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
export const hasTemplates = ({ state, name }: WorkerGroup): boolean =>
  state.patched.has(`${name} ${machineFields.infrastructure}`);

/** The templates of a group: those of the class with all patches, with names that change with their content. */
function templatesOf(worker: WorkerGroup, known: MachineSet | undefined): MachineTemplateObjects {
  const { state } = worker;
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
    const base = `${state.name}-${worker.topologyName}`;
    const purpose = `${kindOfTemplate(patched)}${known === undefined ? '' : ` ${known.revision + 1}`}`;
    return {
      ...content,
      metadata: {
        name: isKnown ? textAt(before, 'metadata', 'name') : state.names.generated(base, purpose),
        namespace: state.namespace,
        ...(labels !== undefined && { labels }),
        ...(annotations !== undefined && { annotations }),
      },
    };
  };
  return { bootstrap: objectFrom('bootstrap'), infrastructure: objectFrom('infrastructure') };
}

function machineSet(worker: WorkerGroup, version: string, before?: MachineSet): MachineSet {
  const templates = templatesOf(worker, before);
  const revision = (before?.revision ?? 0) + 1;
  const suffix = worker.state.names.generated('', `${worker.name} ${revision}`).slice(1);
  return {
    ...templates,
    name: `${worker.name}-${suffix}`,
    hash: `${revision}-${suffix}`,
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
export function groupOf(worker: WorkerGroup, version: string): GroupMachines {
  if (worker.group === undefined) {
    const current = machineSet(worker, version);
    const length = Math.min(worker.replicas, maxMachines);
    const machines = Array.from({ length }, (_, index) => newMachine(worker.state, current, index));
    worker.group = { current, machines, next: undefined };
  }
  return worker.group;
}

/**
 * Compares what a group has with what it should have, as the controller of MachineDeployments does: when the version or
 * a template has changed, it gets another MachineSet.
 *
 * @returns whether a rollout begins.
 */
export function beginRollout(worker: WorkerGroup, version: string): boolean {
  const group = groupOf(worker, version);
  const next = machineSet(worker, version, group.current);
  if (differences(group.next ?? group.current, next).length === 0) {
    return false;
  }
  group.next = next;
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

/** The fields of a group, from the topology or else from the class. */
const carriedBy = ({ kind, state, topology, class: ofClass }: WorkerGroup) =>
  carriedFields(kind, state.release, topology, ofClass?.settings);

/** Whether old Machines stay until somebody deletes them. */
export const waitsForDeletion = (worker: WorkerGroup): boolean => {
  const strategy = carriedBy(worker).find(({ field }) => field.path === 'rollout.strategy');
  return textAt(strategy?.value, 'type') === 'OnDelete';
};

const referenceTo = (object: JsonObject, name = textAt(object, 'metadata', 'name')): JsonObject => ({
  kind: textAt(object, 'kind'),
  name,
  apiGroup: textAt(object, 'apiVersion').split('/')[0] ?? '',
});

const metadataOf = (worker: WorkerGroup) => {
  const { labels, annotations } = groupMetadata(worker.state.cluster, worker);
  return { labels: objectAt(labels), annotations: objectAt(annotations) };
};

/** The MachineDeployment of a group when its Machines are those of a MachineSet. */
function deploymentOf(worker: WorkerGroup, { bootstrap, infrastructure, version }: MachineSet): JsonObject {
  const { name: clusterName, namespace } = worker.state;
  const metadata = metadataOf(worker);
  const selected = [
    'cluster.x-k8s.io/cluster-name',
    'topology.cluster.x-k8s.io/deployment-name',
    'topology.cluster.x-k8s.io/owned',
  ];
  const machineDeployment: JsonObject = {
    metadata: { name: worker.name, namespace, annotations: metadata.annotations },
    spec: {
      clusterName,
      selector: { matchLabels: Object.fromEntries(selected.map((name) => [name, metadata.labels[name] ?? ''])) },
      template: {
        metadata,
        spec: {
          clusterName,
          bootstrap: { configRef: referenceTo(bootstrap) },
          infrastructureRef: referenceTo(infrastructure),
          version,
        },
      },
    },
  };
  for (const { field, value } of carriedBy(worker)) {
    putAt(machineDeployment, pathInObject(worker.kind, field), value);
  }
  putAt(machineDeployment, ['spec', 'replicas'], worker.replicas);
  return machineDeployment;
}

/** How many Machines a rollout may create beyond the replicas, and how many may be unavailable. */
export const strategyOf = (worker: WorkerGroup, set: MachineSet) => fencepostsOf(deploymentOf(worker, set));

/** A MachineSet and its templates as in requests of CanUpdateMachineSet. */
export const machineSetObjects = (worker: WorkerGroup, set: MachineSet, replicas: number): JsonObject =>
  machineSetParts(machineSetOf(deploymentOf(worker, set), set, replicas), set.infrastructure, set.bootstrap);

/** How long Cluster API tries to delete the Node of a Machine, unless somebody sets it, in seconds. */
const nodeDeletionTimeoutSeconds = 10;

/**
 * A Machine as in requests, with the objects made of its templates.
 *
 * @param settings the fields of its spec that users set.
 * @param isMarked whether it is being updated.
 */
function machineWith(
  { name: clusterName, namespace }: State,
  name: string,
  { bootstrap, infrastructure, version }: MachineTemplateObjects & { version: string },
  metadata: JsonObject,
  settings: JsonObject,
  isMarked: boolean,
): JsonObject {
  const providerID = `rehearsal://${name}`;
  const marks = isMarked ? { [inProgress]: '' } : {};
  const madeOf = (template: JsonObject, more: JsonObject): JsonObject => ({
    apiVersion: textAt(template, 'apiVersion'),
    kind: kindOfTemplate(template),
    metadata: {
      name,
      namespace,
      ...mergedMetadata([
        objectAt(template, 'spec', 'template', 'metadata'),
        metadata,
        template.metadata === undefined ? {} : clonedFrom(template),
        { annotations: marks },
      ]),
    },
    spec: { ...objectAt(template, 'spec', 'template', 'spec'), ...more },
  });
  const infrastructureMachine = madeOf(infrastructure, { providerID });
  const bootstrapConfig = madeOf(bootstrap, {});
  const pending = isMarked ? { [pendingHooksAnnotation]: 'UpdateMachine' } : {};
  return {
    machine: {
      apiVersion,
      kind: 'Machine',
      metadata: { name, namespace, ...mergedMetadata([metadata, { annotations: { ...marks, ...pending } }]) },
      spec: {
        clusterName,
        bootstrap: { configRef: referenceTo(bootstrapConfig), dataSecretName: name },
        infrastructureRef: referenceTo(infrastructureMachine),
        version,
        providerID,
        ...settings,
        deletion: { nodeDeletionTimeoutSeconds, ...objectAt(settings, 'deletion') },
      },
    },
    infrastructureMachine,
    bootstrapConfig,
  };
}

/** A Machine with its objects as in requests of UpdateMachine. */
export function machineObjects(worker: WorkerGroup, { name, set }: Machine): JsonObject {
  const { labels, annotations } = metadataOf(worker);
  const own = {
    'cluster.x-k8s.io/deployment-name': worker.name,
    'cluster.x-k8s.io/set-name': set.name,
    'machine-template-hash': set.hash,
  };
  const metadata = { labels: { ...labels, ...own }, annotations };
  return machineWith(worker.state, name, set, metadata, machineSpecOf(carriedBy(worker)), true);
}

/** The control plane as the class and its patches have it; undefined if its template is not known. */
export const controlPlaneOf = ({ patched, name }: State): JsonObject | undefined =>
  patched.get(`${name} spec.controlPlaneRef`);

/** The configuration of a control plane Machine in a version, with the feature gates that Cluster API sets. */
function withGates(kubeadmConfigSpec: JsonObject, version: string): JsonObject {
  const clusterConfiguration = objectAt(kubeadmConfigSpec, 'clusterConfiguration');
  const featureGates = { ...ownFeatureGates(version), ...objectAt(clusterConfiguration, 'featureGates') };
  return {
    ...kubeadmConfigSpec,
    ...nonEmpty('clusterConfiguration', { ...clusterConfiguration, ...nonEmpty('featureGates', featureGates) }),
  };
}

/**
 * A machine of a KubeadmControlPlane with its objects, in one version, as in requests of CanUpdateMachine or, marked, of
 * UpdateMachine (controlplane/kubeadm/pkg/desiredstate, v1.14).
 */
export function controlPlaneObjects(state: State, name: string, version: string, isMarked = false): JsonObject {
  const { name: controlPlane } = state.controlPlane;
  const [, machines = unknownTemplates.infrastructure] =
    [...state.patched].find(([place]) => place.startsWith(`${controlPlane} `)) ?? [];
  const templateName = state.names.generated(state.name, kindOfTemplate(machines));
  const { kubeadmConfigSpec, machineTemplate } = objectAt(controlPlaneOf(state), 'spec', 'template', 'spec');
  const { apiVersion: bootstrapVersion = '', kind = '' } = unknownTemplates.bootstrap;
  const settings = state.subject.blueprint?.controlPlane.settings;
  const topology = objectAt(state.cluster.spec, 'topology', 'controlPlane');
  const own = {
    labels: {
      'cluster.x-k8s.io/cluster-name': state.name,
      'topology.cluster.x-k8s.io/owned': '',
      'cluster.x-k8s.io/control-plane': '',
      'cluster.x-k8s.io/control-plane-name': controlPlane,
    },
  };
  const metadata = mergedMetadata([
    ...[machineTemplate, settings, topology].map((part) => objectAt(part, 'metadata')),
    own,
  ]);
  const templates = {
    bootstrap: {
      apiVersion: bootstrapVersion,
      kind,
      spec: { template: { spec: withGates(objectAt(kubeadmConfigSpec), version) } },
    },
    infrastructure: { ...machines, metadata: { name: templateName } },
    version,
  };
  const carried = carriedFields('ControlPlane', state.release, topology, settings);
  return machineWith(state, name, templates, metadata, machineSpecOf(carried), isMarked);
}
