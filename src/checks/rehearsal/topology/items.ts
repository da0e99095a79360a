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
import type { Blueprint, ClassTemplate } from '../cluster/blueprint.ts';
import { has, upgradeStepText } from '../cluster/releases.ts';
import {
  annotationsOf,
  deferAnnotation,
  holdAnnotation,
  replicasOf,
  type State,
  topologyOf,
  upgradeStepAnnotation,
  type WorkerGroup,
} from '../cluster/state.ts';

/** A template in the place where it is used. */
export interface Item {
  holder: JsonObject;
  /** As patched so far; never changed in place. */
  object: JsonObject;
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
  workerVersions: ReadonlyMap<string, string>;
  upgradeStep: string | undefined;
}

const clusterApiVersion = 'cluster.x-k8s.io/v1beta2';
const ownedLabel = 'topology.cluster.x-k8s.io/owned';
const clusterNameLabel = 'cluster.x-k8s.io/cluster-name';
const groupLabels = {
  MachineDeployment: 'topology.cluster.x-k8s.io/deployment-name',
  MachinePool: 'topology.cluster.x-k8s.io/pool-name',
} as const;

/** The kind of object that a template creates: the template's kind without `Template`. */
export const kindOfTemplate = (template: JsonObject): string => textAt(template, 'kind').replace(/Template$/, '');

/** Name of the object that Cluster API creates from a template for a place. */
function objectName(state: State, base: string, template: ClassTemplate): string {
  return state.names.generated(base, kindOfTemplate(template));
}

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
function metadataOf(parts: readonly JsonObject[]): JsonObject {
  const merged = (field: string) => Object.assign({}, ...parts.map((part) => objectAt(part, field))) as JsonObject;
  return { ...nonEmpty('labels', merged('labels')), ...nonEmpty('annotations', merged('annotations')) };
}

/** Cluster API's own labels of the objects of a Cluster. */
const ownLabels = (state: State, more: JsonObject = {}): JsonObject => ({
  labels: { [clusterNameLabel]: textAt(state.cluster, 'metadata', 'name'), [ownedLabel]: '', ...more },
});

/** Cluster API's own annotations of what is made of a template. */
const clonedFrom = (template: JsonObject): JsonObject => ({
  annotations: {
    'cluster.x-k8s.io/cloned-from-groupkind': `${textAt(template, 'kind')}.${textAt(template, 'apiVersion').split('/')[0]}`,
    'cluster.x-k8s.io/cloned-from-name': textAt(template, 'metadata', 'name'),
  },
});

/** The variable `builtin` for the whole request. */
export function clusterBuiltin(state: State, { upgradeStep }: Desired): JsonObject {
  const { metadata, spec } = state.cluster;
  const [name, namespace] = [textAt(metadata, 'name'), textAt(metadata, 'namespace')];
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
      metadata: metadataOf([
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

/** The variable overrides of one place. */
const overridesOf = (topology: JsonObject) => objectsAt(topology, 'variables', 'overrides');

/**
 * A template with the metadata of what is made of it: an object (`isObject`), or a copy of the template. It is the same
 * object in each round.
 */
function templateFor(
  state: State,
  template: ClassTemplate,
  key: string,
  isObject: boolean,
  parts: readonly JsonObject[],
): JsonObject {
  const known = state.templates.get(key);
  if (known !== undefined) {
    return known;
  }
  const withMetadata = (object: JsonObject, own: JsonObject): JsonObject => ({
    ...object,
    metadata: { ...objectAt(object, 'metadata'), ...metadataOf([objectAt(object, 'metadata'), ...parts, own]) },
  });
  const { annotations, ...metadata } = objectAt(template, 'metadata');
  // Requests had annotations that were emptied, until v1.14.
  const isBare = isJsonObject(annotations) && Object.keys(annotations).length === 0;
  let made = template;
  if (has(state.release, 'templateMetadata')) {
    const own = clonedFrom(template);
    const given = isBare ? { ...template, metadata } : template;
    made = isObject
      ? {
          ...given,
          spec: { ...objectAt(template, 'spec'), template: withMetadata(objectAt(template, 'spec', 'template'), own) },
        }
      : withMetadata(given, own);
  }
  state.templates.set(key, made);
  return made;
}

function workerItems(state: State, blueprint: Blueprint, worker: WorkerGroup, desired: Desired): Item[] {
  const isDeployment = worker.kind === 'MachineDeployment';
  const templates = (isDeployment ? blueprint.machineDeployments : blueprint.machinePools).get(worker.class);
  if (templates === undefined) {
    return [];
  }
  const topology = topologyOf(state, worker);
  const { metadata } = state.cluster;
  const base = `${textAt(metadata, 'name')}-${worker.topologyName}`;
  const machines = state.machines.get(worker.name);
  const set = machines?.next ?? machines?.current;
  const nameOf = (part: 'bootstrap' | 'infrastructure') => {
    const template = templates[part];
    const own = set === undefined ? '' : textAt(set[part], 'metadata', 'name');
    return template === undefined ? undefined : own || objectName(state, base, template);
  };
  const [bootstrap, infrastructure] = [nameOf('bootstrap'), nameOf('infrastructure')];
  const own = ownLabels(state, { [groupLabels[worker.kind]]: worker.topologyName });
  const builtin: JsonObject = {
    [isDeployment ? 'machineDeployment' : 'machinePool']: {
      version: desired.workerVersions.get(worker.name) ?? desired.version,
      metadata: groupMetadata(state, worker, objectAt(templates.settings, 'metadata')),
      class: worker.class,
      name: worker.name,
      topologyName: worker.topologyName,
      ...(topology.replicas !== undefined && { replicas: replicasOf(state, worker) }),
      ...(bootstrap !== undefined && { bootstrap: { configRef: { name: bootstrap } } }),
      ...(infrastructure !== undefined && { infrastructureRef: { name: infrastructure } }),
    },
  };
  const places: [string, ClassTemplate | undefined][] = [
    ['spec.template.spec.bootstrap.configRef', templates.bootstrap],
    ['spec.template.spec.infrastructureRef', templates.infrastructure],
  ];
  return places.flatMap(([fieldPath, template]): Item[] =>
    template === undefined
      ? []
      : [
          {
            holder: {
              apiVersion: clusterApiVersion,
              kind: worker.kind,
              namespace: textAt(metadata, 'namespace'),
              name: worker.name,
              fieldPath,
            },
            object: templateFor(state, template, `${worker.name} ${fieldPath}`, !isDeployment, [own]),
            overrides: overridesOf(topology),
            builtin,
            sets: [],
          },
        ],
  );
}

/** Labels and annotations of a group of workers, which its MachineSets and Machines get as well. */
export function groupMetadata(state: State, worker: WorkerGroup, classMetadata: JsonObject): JsonObject {
  const merged = metadataOf([
    classMetadata,
    objectAt(topologyOf(state, worker), 'metadata'),
    ownLabels(state, { [groupLabels[worker.kind]]: worker.topologyName }),
  ]);
  const { [deferAnnotation]: _defer, [holdAnnotation]: _hold, ...annotations } = objectAt(merged, 'annotations');
  return { labels: merged.labels ?? {}, ...nonEmpty('annotations', annotations) };
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

function controlPlaneItems(state: State, blueprint: Blueprint, desired: Desired): Item[] {
  const { template, machines, settings } = blueprint.controlPlane;
  if (template === undefined) {
    return [];
  }
  const { metadata, spec } = state.cluster;
  const [name, namespace] = [textAt(metadata, 'name'), textAt(metadata, 'namespace')];
  const topology = objectAt(spec, 'topology', 'controlPlane');
  const own = [objectAt(settings, 'metadata'), objectAt(topology, 'metadata'), ownLabels(state)];
  const { replicas } = topology;
  const builtin: JsonObject = {
    controlPlane: {
      version: desired.version,
      metadata: metadataOf([objectAt(template, 'spec', 'template', 'metadata'), ...own, clonedFrom(template)]),
      name: state.controlPlane.name,
      ...(replicas !== undefined && { replicas }),
      ...(machines !== undefined && {
        machineTemplate: { infrastructureRef: { name: objectName(state, name, machines) } },
      }),
    },
  };
  const overrides = overridesOf(topology);
  const controlPlane: Item = {
    holder: { apiVersion: clusterApiVersion, kind: 'Cluster', namespace, name, fieldPath: 'spec.controlPlaneRef' },
    object: templateFor(state, template, 'control plane', true, own),
    overrides,
    builtin,
    sets: fieldsSet(topology, settings, machines !== undefined),
  };
  if (machines === undefined) {
    return [controlPlane];
  }
  const isOldContract = textAt(template, 'apiVersion').endsWith('/v1beta1');
  return [
    controlPlane,
    {
      holder: {
        apiVersion: textAt(template, 'apiVersion'),
        kind: kindOfTemplate(template),
        namespace,
        name: state.controlPlane.name,
        fieldPath: isOldContract
          ? 'spec.machineTemplate.infrastructureRef'
          : 'spec.machineTemplate.spec.infrastructureRef',
      },
      object: templateFor(state, machines, 'control plane machines', false, [ownLabels(state)]),
      overrides,
      builtin,
      sets: [],
    },
  ];
}

/** The templates of a Cluster where they are used, in Cluster API's order; those of workers in the topology's order. */
export function itemsOf(state: State, blueprint: Blueprint, desired: Desired): Item[] {
  const { metadata } = state.cluster;
  const { infrastructureCluster } = blueprint;
  const infrastructure: Item[] =
    infrastructureCluster === undefined
      ? []
      : [
          {
            holder: {
              apiVersion: clusterApiVersion,
              kind: 'Cluster',
              namespace: textAt(metadata, 'namespace'),
              name: textAt(metadata, 'name'),
              fieldPath: 'spec.infrastructureRef',
            },
            object: templateFor(state, infrastructureCluster, 'infrastructure', true, [ownLabels(state)]),
            overrides: [],
            builtin: undefined,
            sets: [],
          },
        ];
  return [
    ...infrastructure,
    ...controlPlaneItems(state, blueprint, desired),
    ...state.workers.flatMap((worker) => workerItems(state, blueprint, worker, desired)),
  ];
}

/** A holder in one line: `MachineDeployment default/sample-md-0 spec.template.spec.infrastructureRef`. */
export const holderText = (holder: JsonObject): string =>
  `${textAt(holder, 'kind')} ${textAt(holder, 'namespace')}/${textAt(holder, 'name')} ${textAt(holder, 'fieldPath')}`;

/** The key of a place: the name of the holder, and the field there. */
export const placeOf = (holder: JsonObject): string => `${textAt(holder, 'name')} ${textAt(holder, 'fieldPath')}`;

/** A variable as in a request. */
export const variable = (name: string, value: Json): JsonObject => ({ name, value });
