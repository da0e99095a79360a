import {
  fieldAt,
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  textAt,
} from '../../../kubernetes/index.ts';
import type { ControlPlaneField } from '../../../runtimehooks/index.ts';
import { type Blueprint, has, upgradeStepText } from '../../../topology/index.ts';
import {
  annotationsOf,
  deferAnnotation,
  holdAnnotation,
  type State,
  upgradeStepAnnotation,
  type WorkerGroup,
} from '../cluster/state.ts';

/** A template in the place where it is used. */
export interface Item {
  /** New in every round. */
  uid: string;
  holder: JsonObject;
  /** Before any patch. */
  template: JsonObject;
  /** As patched so far; never changed in place. */
  object: JsonObject;
  /** The changes of patches that Cluster API ignores, as JSON pointers. */
  ignored: string[];
  /** Variable overrides of that place. */
  overrides: readonly JsonObject[];
  builtin: JsonObject | undefined;
  /** What Cluster API sets there itself. */
  sets: readonly ControlPlaneField[];
}

/** Input of a round: what the controller has decided on. */
export interface Desired {
  /** The version of the control plane. */
  version: string;
  /** The groups of workers, and the versions that they should have. */
  workers: readonly { worker: WorkerGroup; version: string }[];
  upgradeStep: string | undefined;
}

const clusterApiVersion = 'cluster.x-k8s.io/v1beta2';
const ownedLabel = 'topology.cluster.x-k8s.io/owned';
const clusterNameLabel = 'cluster.x-k8s.io/cluster-name';
const groupLabel = {
  MachineDeployment: 'topology.cluster.x-k8s.io/deployment-name',
  MachinePool: 'topology.cluster.x-k8s.io/pool-name',
} as const;

/** Where workers refer to their templates. */
export const machineFields = {
  bootstrap: 'spec.template.spec.bootstrap.configRef',
  infrastructure: 'spec.template.spec.infrastructureRef',
} as const;

/** The kind of object that a template creates: the template's kind without `Template`. */
export const kindOfTemplate = (template: JsonObject): string => textAt(template, 'kind').replace(/Template$/, '');

/** The fields of `deletion` that Machines have. */
export const machineTimeouts = [
  'nodeDrainTimeoutSeconds',
  'nodeVolumeDetachTimeoutSeconds',
  'nodeDeletionTimeoutSeconds',
] as const;

/** A field with a value, unless that is empty. */
export const nonEmpty = (name: string, value: JsonObject): JsonObject =>
  Object.keys(value).length > 0 ? { [name]: value } : {};

/** Labels and annotations of an object: later parts override earlier ones. */
export function mergedMetadata(parts: readonly JsonObject[]): JsonObject {
  const merged = (field: string) => Object.assign({}, ...parts.map((part) => objectAt(part, field))) as JsonObject;
  return { ...nonEmpty('labels', merged('labels')), ...nonEmpty('annotations', merged('annotations')) };
}

/** Cluster API's own labels of the objects of a Cluster. */
const ownLabels = (state: State, more: JsonObject = {}): JsonObject => ({
  labels: { [clusterNameLabel]: state.name, [ownedLabel]: '', ...more },
});

/** Those of a group of workers. */
const groupLabels = ({ state, kind, topologyName }: WorkerGroup): JsonObject =>
  ownLabels(state, { [groupLabel[kind]]: topologyName });

/** Cluster API's own annotations of what is made of a template. */
export const clonedFrom = (template: JsonObject): { annotations: JsonObject } => ({
  annotations: {
    'cluster.x-k8s.io/cloned-from-groupkind': `${textAt(template, 'kind')}.${textAt(template, 'apiVersion').split('/')[0]}`,
    'cluster.x-k8s.io/cloned-from-name': textAt(template, 'metadata', 'name'),
  },
});

/** The variable `builtin` for the whole request. */
export function clusterBuiltin(state: State, { upgradeStep }: Desired): JsonObject {
  const { name, namespace } = state;
  const { metadata, spec } = state.cluster;
  const classRef = objectAt(spec, 'topology', 'classRef');
  const classNamespace = textAt(classRef, 'namespace') || namespace;
  const network = objectAt(spec, 'clusterNetwork');
  const pods = fieldAt(network, 'pods', 'cidrBlocks');
  const services = fieldAt(network, 'services', 'cidrBlocks');
  const { [upgradeStepAnnotation]: _before, ...annotations } = annotationsOf(state.cluster);
  const step = upgradeStepText(state.release, upgradeStep);
  return {
    cluster: {
      name,
      namespace,
      uid: textAt(metadata, 'uid'),
      metadata: mergedMetadata([
        { labels: objectAt(metadata, 'labels'), annotations },
        ownLabels(state),
        step === undefined ? {} : { annotations: { [upgradeStepAnnotation]: step } },
      ]),
      topology: {
        version: textAt(spec, 'topology', 'version'),
        classRef: { name: textAt(classRef, 'name'), namespace: classNamespace },
        class: textAt(classRef, 'name'),
        classNamespace,
      },
      ...nonEmpty('network', {
        ...(network.serviceDomain !== undefined && { serviceDomain: network.serviceDomain }),
        ...(services !== undefined && { services }),
        ...(pods !== undefined && { pods }),
      }),
    },
  };
}

/** What there is to say about a template in one place. */
interface Use {
  kind: string;
  name: string;
  fieldPath: string;
  /** Of the holder; default: Cluster API's own. */
  apiVersion?: string;
  /** Whether an object is made of the template, and not a copy. */
  isObject: boolean;
  /** Labels and annotations of what is made of it, besides those of the template. */
  metadata: readonly JsonObject[];
  /** The part of the topology that may override variables. */
  topology?: JsonObject;
  builtin?: JsonObject;
  sets?: readonly ControlPlaneField[];
}

/** A template with the metadata of what is made of it. */
function withMetadata(template: JsonObject, { isObject, metadata: parts }: Use): JsonObject {
  const merged = (object: JsonObject): JsonObject => {
    const metadata = objectAt(object, 'metadata');
    return { ...object, metadata: { ...metadata, ...mergedMetadata([metadata, ...parts, clonedFrom(template)]) } };
  };
  if (!isObject) {
    return merged(template);
  }
  const spec = objectAt(template, 'spec');
  const { annotations, ...metadata } = objectAt(template, 'metadata');
  // Requests had annotations that were emptied, until v1.14.
  const isBare = isJsonObject(annotations) && Object.keys(annotations).length === 0;
  return {
    ...template,
    ...(isBare && { metadata }),
    spec: { ...spec, template: merged(objectAt(spec, 'template')) },
  };
}

/** A template where it is used; none if it is not known. */
function itemFor(state: State, template: JsonObject | undefined, use: Use): Item[] {
  if (template === undefined) {
    return [];
  }
  const { apiVersion = clusterApiVersion, kind, name, fieldPath, topology, builtin, sets = [] } = use;
  const holder = { apiVersion, kind, namespace: state.namespace, name, fieldPath };
  const object = has(state.release, 'templateMetadata') ? withMetadata(template, use) : template;
  const overrides = objectsAt(topology, 'variables', 'overrides');
  return [{ uid: state.names.uid(), holder, template: object, object, ignored: [], overrides, builtin, sets }];
}

/** Labels and annotations of a group of workers, which its MachineSets and Machines get as well. */
export function groupMetadata(worker: WorkerGroup): JsonObject {
  const merged = mergedMetadata([
    objectAt(worker.class?.settings, 'metadata'),
    objectAt(worker.topology, 'metadata'),
    groupLabels(worker),
  ]);
  const { [deferAnnotation]: _defer, [holdAnnotation]: _hold, ...annotations } = objectAt(merged, 'annotations');
  return { labels: merged.labels ?? {}, ...nonEmpty('annotations', annotations) };
}

function workerItems(worker: WorkerGroup, version: string): Item[] {
  const { state, kind, name, topologyName, topology, group } = worker;
  if (worker.class === undefined) {
    return [];
  }
  const { bootstrap, infrastructure, settings } = worker.class;
  const isDeployment = kind === 'MachineDeployment';
  const set = group?.next ?? group?.current;
  const nameOf = (part: 'bootstrap' | 'infrastructure', template: JsonObject) => ({
    name:
      textAt(set?.[part], 'metadata', 'name') ||
      state.names.generated(`${state.name}-${topologyName}`, kindOfTemplate(template)),
  });
  const builtin: JsonObject = {
    [isDeployment ? 'machineDeployment' : 'machinePool']: {
      version,
      metadata: groupMetadata(worker),
      class: textAt(settings, 'class'),
      name,
      topologyName,
      ...(topology.replicas !== undefined && { replicas: worker.replicas }),
      ...(bootstrap && { bootstrap: { configRef: nameOf('bootstrap', bootstrap) } }),
      ...(infrastructure && { infrastructureRef: nameOf('infrastructure', infrastructure) }),
    },
  };
  const use = { kind, name, isObject: !isDeployment, metadata: [groupLabels(worker)], topology, builtin };
  return [
    ...itemFor(state, bootstrap, { ...use, fieldPath: machineFields.bootstrap }),
    ...itemFor(state, infrastructure, { ...use, fieldPath: machineFields.infrastructure }),
  ];
}

/** What Cluster API sets in a control plane: what the class or the topology has. */
function fieldsSet(topology: JsonObject, classSettings: JsonObject, hasMachines: boolean): ControlPlaneField[] {
  const isSet = (...path: string[]) => [topology, classSettings].some((part) => fieldAt(part, ...path) !== undefined);
  return [
    'version',
    ...(topology.replicas === undefined ? [] : (['replicas'] as const)),
    ...(fieldAt(topology, 'rollout', 'after') === undefined ? [] : (['rolloutAfter'] as const)),
    ...(hasMachines ? (['machines'] as const) : []),
    ...(['readinessGates', 'taints'] as const).filter((field) => isSet(field)),
    ...machineTimeouts.filter((field) => isSet('deletion', field)),
  ];
}

function controlPlaneItems(state: State, { controlPlane }: Blueprint, desired: Desired): Item[] {
  const { template, machines, settings } = controlPlane;
  if (template === undefined) {
    return [];
  }
  const { name } = state.controlPlane;
  const topology = objectAt(state.cluster.spec, 'topology', 'controlPlane');
  const own = [objectAt(settings, 'metadata'), objectAt(topology, 'metadata'), ownLabels(state)];
  const { replicas } = topology;
  const builtin: JsonObject = {
    controlPlane: {
      version: desired.version,
      metadata: mergedMetadata([objectAt(template, 'spec', 'template', 'metadata'), ...own, clonedFrom(template)]),
      name,
      ...(replicas !== undefined && { replicas }),
      ...(machines && {
        machineTemplate: { infrastructureRef: { name: state.names.generated(state.name, kindOfTemplate(machines)) } },
      }),
    },
  };
  const apiVersion = textAt(template, 'apiVersion');
  const use = { topology, builtin };
  return [
    ...itemFor(state, template, {
      ...{
        ...use,
        kind: 'Cluster',
        name: state.name,
        fieldPath: 'spec.controlPlaneRef',
        isObject: true,
        metadata: own,
      },
      sets: fieldsSet(topology, settings, machines !== undefined),
    }),
    ...itemFor(state, machines, {
      ...{ ...use, apiVersion, kind: kindOfTemplate(template), name, isObject: false, metadata: [ownLabels(state)] },
      fieldPath: apiVersion.endsWith('/v1beta1')
        ? 'spec.machineTemplate.infrastructureRef'
        : 'spec.machineTemplate.spec.infrastructureRef',
    }),
  ];
}

/** The templates of a Cluster where they are used, in Cluster API's order; those of workers in the topology's order. */
export const itemsOf = (state: State, blueprint: Blueprint, desired: Desired): Item[] => [
  ...itemFor(state, blueprint.infrastructureCluster, {
    kind: 'Cluster',
    name: state.name,
    fieldPath: 'spec.infrastructureRef',
    isObject: true,
    metadata: [ownLabels(state)],
  }),
  ...controlPlaneItems(state, blueprint, desired),
  ...desired.workers.flatMap(({ worker, version }) => workerItems(worker, version)),
];

/** A holder in one line: `MachineDeployment default/sample-md-0 spec.template.spec.infrastructureRef`. */
export const holderText = (holder: JsonObject): string =>
  `${textAt(holder, 'kind')} ${textAt(holder, 'namespace')}/${textAt(holder, 'name')} ${textAt(holder, 'fieldPath')}`;

/** The key of a place: the name of the holder, and the field there. */
export const placeOf = (holder: JsonObject): string => `${textAt(holder, 'name')} ${textAt(holder, 'fieldPath')}`;

/** A variable as in a request. */
export const variable = (name: string, value: Json): JsonObject => ({ name, value });
