import {
  copyOf,
  fieldAt,
  type Json,
  type JsonObject,
  lastAppliedAnnotation,
  objectAt,
  objectsAt,
  textAt,
} from '../../kubernetes/index.ts';
import {
  type ClassField,
  type ControlPlaneField,
  carriedFields,
  isEmptyObject,
  putAt,
  type Release,
} from '../../runtimehooks/index.ts';
import { type Blueprint, kindOfTemplate, type MachineTemplates } from '../blueprint/blueprint.ts';
import type { OwnWordReads } from '../templates/index.ts';
import { present } from '../world/objects.ts';
import { has, upgradeStepText } from '../world/releases.ts';
import type { WorkerKind } from '../world/topologies.ts';

/** A group of workers of a Cluster, as its templates are patched. */
export interface WorkerPlace {
  kind: WorkerKind;
  topologyName: string;
  /** Name of the object. */
  name: string;
  version: string;
  /** Undefined if the class has none of that name. */
  class: MachineTemplates | undefined;
  topology: JsonObject;
  /** Names of the Cluster's own copies of its templates. */
  templateNames: { bootstrap: string; infrastructure: string };
}

/** The topology controller's decisions about a Cluster before it patches templates. */
export interface PatchInput {
  release: Release;
  /** In v1beta2. */
  cluster: JsonObject;
  blueprint: Blueprint;
  /** The version in the annotation of the upgrade step, during an upgrade. */
  upgradeStep: string | undefined;
  controlPlane: {
    name: string;
    version: string;
    /** Name of the Cluster's own copy of the template of its machines. */
    machineTemplateName: string;
  };
  workers: readonly WorkerPlace[];
  newUid: () => string;
  /** Is told what of the Cluster's own words inline patches read. */
  reads?: OwnWordReads | undefined;
}

/** A template in the place where it is used. */
export interface Item {
  /** New in every round. */
  uid: string;
  holder: JsonObject;
  /** Before any patch. */
  template: JsonObject;
  /** As patched so far; never changed in place. */
  object: JsonObject;
  /** Variable overrides of that place. */
  overrides: readonly JsonObject[];
  builtin: JsonObject | undefined;
  /** The values that Cluster API sets there itself. */
  sets: readonly ControlPlaneField[];
  /** Whether an object is made of the template, and not a copy. */
  isObject: boolean;
  /** Labels and annotations of what is made of it, besides those of the template. */
  metadata: readonly JsonObject[];
}

/** The user's annotation that keeps a group of workers from being upgraded. */
export const deferAnnotation = 'topology.cluster.x-k8s.io/defer-upgrade';
/** The user's annotation that keeps a group of workers, and those behind it, from being upgraded. */
export const holdAnnotation = 'topology.cluster.x-k8s.io/hold-upgrade-sequence';
/** Cluster API's annotation with the current step of an upgrade. */
export const upgradeStepAnnotation = 'topology.internal.cluster.x-k8s.io/upgrade-step';

export const ownedLabel = 'topology.cluster.x-k8s.io/owned';
export const clusterNameLabel = 'cluster.x-k8s.io/cluster-name';
export const groupLabel = {
  MachineDeployment: 'topology.cluster.x-k8s.io/deployment-name',
  MachinePool: 'topology.cluster.x-k8s.io/pool-name',
} as const;
const clusterApiVersion = 'cluster.x-k8s.io/v1beta2';

/** Annotations of a template that requests leave out. */
const hiddenAnnotations = [lastAppliedAnnotation, 'cluster.x-k8s.io/conversion-data'];

/** An object as in requests. */
export function withoutBookkeeping(object: JsonObject): JsonObject {
  const copy = copyOf(object);
  delete objectAt(copy, 'metadata').managedFields;
  const annotations = objectAt(copy, 'metadata', 'annotations');
  for (const name of hiddenAnnotations) {
    delete annotations[name];
  }
  return copy;
}

/** Where workers refer to their templates. */
export const machineFields = {
  bootstrap: 'spec.template.spec.bootstrap.configRef',
  infrastructure: 'spec.template.spec.infrastructureRef',
} as const;

/** A field with a value, unless that is empty. */
export const nonEmpty = (name: string, value: JsonObject): JsonObject =>
  Object.keys(value).length > 0 ? { [name]: value } : {};

/** Labels and annotations of an object: later parts override earlier ones. */
export function mergedMetadata(parts: readonly JsonObject[]): JsonObject {
  const merged = (field: string) => Object.assign({}, ...parts.map((part) => objectAt(part, field))) as JsonObject;
  return { ...nonEmpty('labels', merged('labels')), ...nonEmpty('annotations', merged('annotations')) };
}

/** Cluster API's own annotations of what is made of a template. */
export const clonedFrom = (template: JsonObject): { annotations: JsonObject } => ({
  annotations: {
    'cluster.x-k8s.io/cloned-from-groupkind': `${textAt(template, 'kind')}.${textAt(template, 'apiVersion').split('/')[0]}`,
    'cluster.x-k8s.io/cloned-from-name': textAt(template, 'metadata', 'name'),
  },
});

/** Cluster API's own labels of the objects of a Cluster. */
const ownLabels = (cluster: JsonObject, more: JsonObject = {}): JsonObject => ({
  labels: { [clusterNameLabel]: textAt(cluster, 'metadata', 'name'), [ownedLabel]: '', ...more },
});

const groupLabels = (cluster: JsonObject, { kind, topologyName }: Pick<WorkerPlace, 'kind' | 'topologyName'>) =>
  ownLabels(cluster, { [groupLabel[kind]]: topologyName });

/** The variable `builtin` for the whole request. */
export function clusterBuiltin({ cluster, release, upgradeStep }: PatchInput): JsonObject {
  const { metadata, spec } = withoutBookkeeping({ metadata: cluster.metadata ?? {}, spec: cluster.spec ?? {} });
  const namespace = textAt(metadata, 'namespace') || 'default';
  const classRef = objectAt(spec, 'topology', 'classRef');
  const classNamespace = textAt(classRef, 'namespace') || namespace;
  const network = objectAt(spec, 'clusterNetwork');
  const pods = fieldAt(network, 'pods', 'cidrBlocks');
  const services = fieldAt(network, 'services', 'cidrBlocks');
  const { [upgradeStepAnnotation]: _before, ...annotations } = objectAt(metadata, 'annotations');
  const step = upgradeStepText(release, upgradeStep);
  return {
    cluster: {
      name: textAt(metadata, 'name'),
      namespace,
      uid: textAt(metadata, 'uid'),
      metadata: mergedMetadata([
        { labels: objectAt(metadata, 'labels'), annotations },
        ownLabels(cluster),
        step === undefined ? {} : { annotations: { [upgradeStepAnnotation]: step } },
      ]),
      topology: {
        version: textAt(spec, 'topology', 'version'),
        classRef: { name: textAt(classRef, 'name'), namespace: classNamespace },
        class: textAt(classRef, 'name'),
        classNamespace,
      },
      ...nonEmpty('network', present({ serviceDomain: network.serviceDomain, services, pods })),
    },
  };
}

/** An item, as far as it is not the same for all. */
interface Use
  extends Pick<Item, 'isObject' | 'metadata'>,
    Partial<Pick<Item, 'builtin' | 'overrides' | 'sets'>>,
    Record<'kind' | 'name' | 'fieldPath', string> {
  /** Of the holder; default: Cluster API's own. */
  apiVersion?: string;
}

/** A template with the metadata of what is made of it. */
export function withMetadata(
  template: JsonObject,
  { isObject, metadata: parts }: Pick<Item, 'isObject' | 'metadata'>,
): JsonObject {
  const merged = (object: JsonObject): JsonObject => {
    const metadata = objectAt(object, 'metadata');
    return { ...object, metadata: { ...metadata, ...mergedMetadata([metadata, ...parts, clonedFrom(template)]) } };
  };
  if (!isObject) {
    return merged(template);
  }
  const spec = objectAt(template, 'spec');
  const { annotations, ...metadata } = objectAt(template, 'metadata');
  return {
    ...template,
    // Requests had annotations that were emptied, until v1.14.
    ...(isEmptyObject(annotations) && { metadata }),
    spec: { ...spec, template: merged(objectAt(spec, 'template')) },
  };
}

function itemFor({ cluster, release, newUid }: PatchInput, template: JsonObject | undefined, use: Use): Item[] {
  if (template === undefined) {
    return [];
  }
  const { apiVersion = clusterApiVersion, kind, name, fieldPath, ...rest } = use;
  const namespace = textAt(cluster, 'metadata', 'namespace') || 'default';
  const holder = { apiVersion, kind, namespace, name, fieldPath };
  const object = has(release, 'templateMetadata') ? withMetadata(template, use) : template;
  return [{ uid: newUid(), template: object, object, overrides: [], builtin: undefined, sets: [], ...rest, holder }];
}

/** Labels and annotations of a group of workers, which its MachineSets and Machines get as well. */
export function groupMetadata(
  cluster: JsonObject,
  worker: Pick<WorkerPlace, 'kind' | 'topologyName' | 'class' | 'topology'>,
): JsonObject {
  const merged = mergedMetadata([
    objectAt(worker.class?.settings, 'metadata'),
    objectAt(worker.topology, 'metadata'),
    groupLabels(cluster, worker),
  ]);
  const { [deferAnnotation]: _defer, [holdAnnotation]: _hold, ...annotations } = objectAt(merged, 'annotations');
  return { labels: merged.labels ?? {}, ...nonEmpty('annotations', annotations) };
}

function builtinFields(carried: readonly { field: ClassField; value: Json }[]): JsonObject {
  const fields: JsonObject = {};
  for (const { field, value } of carried) {
    if (field.isInBuiltin) {
      putAt(fields, field.path.split('.'), value);
    }
  }
  return fields;
}

function workerItems(input: PatchInput, worker: WorkerPlace): Item[] {
  const { cluster } = input;
  const { kind, name, topologyName, topology, version, templateNames } = worker;
  if (worker.class === undefined) {
    return [];
  }
  const { bootstrap, infrastructure, settings } = worker.class;
  const isDeployment = kind === 'MachineDeployment';
  const builtin: JsonObject = {
    [isDeployment ? 'machineDeployment' : 'machinePool']: {
      version,
      metadata: groupMetadata(cluster, worker),
      class: textAt(settings, 'class'),
      name,
      topologyName,
      ...builtinFields(carriedFields(kind, input.release, topology, settings)),
      ...(bootstrap && { bootstrap: { configRef: { name: templateNames.bootstrap } } }),
      ...(infrastructure && { infrastructureRef: { name: templateNames.infrastructure } }),
    },
  };
  const overrides = objectsAt(topology, 'variables', 'overrides');
  const use = { kind, name, isObject: !isDeployment, metadata: [groupLabels(cluster, worker)], overrides, builtin };
  return [
    ...itemFor(input, bootstrap, { ...use, fieldPath: machineFields.bootstrap }),
    ...itemFor(input, infrastructure, { ...use, fieldPath: machineFields.infrastructure }),
  ];
}

/** Labels and annotations of the control plane and its machines. */
export const controlPlaneMetadata = (cluster: JsonObject, { controlPlane }: Blueprint): JsonObject[] => [
  objectAt(controlPlane.settings, 'metadata'),
  objectAt(cluster, 'spec', 'topology', 'controlPlane', 'metadata'),
  ownLabels(cluster),
];

/** Where a control plane refers to the template of its machines. */
export const machineTemplateField = ({ controlPlane }: Blueprint): string =>
  controlPlane.isOfOldContract
    ? 'spec.machineTemplate.infrastructureRef'
    : 'spec.machineTemplate.spec.infrastructureRef';

function controlPlaneItems(input: PatchInput): Item[] {
  const { cluster, blueprint } = input;
  const { template, machines, settings } = blueprint.controlPlane;
  if (template === undefined) {
    return [];
  }
  const { name, version, machineTemplateName } = input.controlPlane;
  const topology = objectAt(cluster, 'spec', 'topology', 'controlPlane');
  const own = controlPlaneMetadata(cluster, blueprint);
  const carried = carriedFields('ControlPlane', input.release, topology, settings);
  const builtin: JsonObject = {
    controlPlane: {
      version,
      metadata: mergedMetadata([objectAt(template, 'spec', 'template', 'metadata'), ...own, clonedFrom(template)]),
      name,
      ...builtinFields(carried),
      ...(machines && { machineTemplate: { infrastructureRef: { name: machineTemplateName } } }),
    },
  };
  const use = { overrides: objectsAt(topology, 'variables', 'overrides'), builtin };
  return [
    ...itemFor(input, template, {
      ...use,
      kind: 'Cluster',
      name: textAt(cluster, 'metadata', 'name'),
      fieldPath: 'spec.controlPlaneRef',
      isObject: true,
      metadata: own,
      sets: ['version', ...(machines === undefined ? [] : ['machines']), ...carried.map(({ field }) => field.path)],
    }),
    ...itemFor(input, machines, {
      ...use,
      apiVersion: textAt(template, 'apiVersion'),
      kind: kindOfTemplate(template),
      name,
      isObject: false,
      metadata: [ownLabels(cluster)],
      fieldPath: machineTemplateField(blueprint),
    }),
  ];
}

/** The templates of a Cluster where they are used, in Cluster API's order; those of workers in the topology's order. */
export const itemsOf = (input: PatchInput): Item[] => [
  ...itemFor(input, input.blueprint.infrastructureCluster, {
    kind: 'Cluster',
    name: textAt(input.cluster, 'metadata', 'name'),
    fieldPath: 'spec.infrastructureRef',
    isObject: true,
    metadata: [ownLabels(input.cluster)],
  }),
  ...controlPlaneItems(input),
  ...input.workers.flatMap((worker) => workerItems(input, worker)),
];

/** A holder in one line: `MachineDeployment default/sample-md-0 spec.template.spec.infrastructureRef`. */
export const holderText = (holder: JsonObject): string =>
  `${textAt(holder, 'kind')} ${textAt(holder, 'namespace')}/${textAt(holder, 'name')} ${textAt(holder, 'fieldPath')}`;

/** The key of a place: the name of the holder, and the field there. */
export const placeOf = (holder: JsonObject): string => `${textAt(holder, 'name')} ${textAt(holder, 'fieldPath')}`;

/** A variable as in a request. */
export const variable = (name: string, value: Json): JsonObject => ({ name, value });
