import { copyOf, fieldAt, type Json, type JsonObject, objectAt, objectsAt, textAt } from '../../../kubernetes/index.ts';
import type { Blueprint, ClassTemplate } from '../cluster/blueprint.ts';
import {
  annotationsOf,
  replicasOf,
  type State,
  topologyOf,
  upgradeStepAnnotation,
  type WorkerGroup,
} from '../cluster/state.ts';

/** A template in the place where it is used. */
export interface Item {
  holder: JsonObject;
  /** As patched so far. */
  object: JsonObject;
  /** Variable overrides of that place. */
  overrides: readonly JsonObject[];
  builtin: JsonObject | undefined;
}

/** Input of a round: the versions that the controller has decided on. */
export interface Desired {
  version: string;
  upgradeStep: string;
}

const clusterApiVersion = 'cluster.x-k8s.io/v1beta2';
const ownedLabel = 'topology.cluster.x-k8s.io/owned';
const clusterNameLabel = 'cluster.x-k8s.io/cluster-name';

/** The kind of object that a template creates: the template's kind without `Template`. */
export const kindOfTemplate = (template: JsonObject): string => textAt(template, 'kind').replace(/Template$/, '');

/** Name of the object that Cluster API creates from a template for a place. */
function objectName(state: State, base: string, template: ClassTemplate): string {
  return state.names.generated(base, kindOfTemplate(template));
}

const nonEmpty = (name: string, value: JsonObject): JsonObject =>
  Object.keys(value).length > 0 ? { [name]: value } : {};

/** Metadata of a new object: the class's, overridden by the topology's, then Cluster API's own labels. */
function metadataOf(parts: readonly JsonObject[], labels: JsonObject, annotations: JsonObject = {}): JsonObject {
  const merged = (field: string) => Object.assign({}, ...parts.map((part) => objectAt(part, field))) as JsonObject;
  return {
    labels: { ...merged('labels'), ...labels },
    ...nonEmpty('annotations', { ...merged('annotations'), ...annotations }),
  };
}

/** The variable `builtin` for the whole request. */
export function clusterBuiltin(state: State, { upgradeStep }: Desired): JsonObject {
  const { metadata, spec } = state.cluster;
  const [name, namespace] = [textAt(metadata, 'name'), textAt(metadata, 'namespace')];
  const classRef = objectAt(spec, 'topology', 'classRef');
  const classNamespace = textAt(classRef, 'namespace') || namespace;
  const network = objectAt(spec, 'clusterNetwork');
  const pods = fieldAt(network, 'pods', 'cidrBlocks');
  const services = fieldAt(network, 'services', 'cidrBlocks');
  return {
    cluster: {
      name,
      namespace,
      uid: textAt(metadata, 'uid'),
      metadata: {
        labels: { ...objectAt(metadata, 'labels'), [clusterNameLabel]: name, [ownedLabel]: '' },
        annotations: { ...annotationsOf(state.cluster), [upgradeStepAnnotation]: upgradeStep },
      },
      topology: {
        version: textAt(spec, 'topology', 'version'),
        classRef: { name: textAt(classRef, 'name'), namespace: classNamespace },
        class: textAt(classRef, 'name'),
        classNamespace,
      },
      network: {
        ...(network.serviceDomain !== undefined && { serviceDomain: network.serviceDomain }),
        ...(services !== undefined && { services }),
        ...(pods !== undefined && { pods }),
      },
    },
  };
}

/** The variable overrides of one place. */
const overridesOf = (topology: JsonObject) => objectsAt(topology, 'variables', 'overrides');

function workerItems(state: State, blueprint: Blueprint, worker: WorkerGroup, desired: Desired): Item[] {
  const isDeployment = worker.kind === 'MachineDeployment';
  const templates = (isDeployment ? blueprint.machineDeployments : blueprint.machinePools).get(worker.class);
  if (templates === undefined) {
    return [];
  }
  const topology = topologyOf(state, worker);
  const { metadata } = state.cluster;
  const cluster = textAt(metadata, 'name');
  const base = `${cluster}-${worker.topologyName}`;
  const nameOf = (template: ClassTemplate | undefined) =>
    template === undefined ? undefined : objectName(state, base, template);
  const [bootstrap, infrastructure] = [nameOf(templates.bootstrap), nameOf(templates.infrastructure)];
  const builtin: JsonObject = {
    [isDeployment ? 'machineDeployment' : 'machinePool']: {
      version: worker.version ?? desired.version,
      metadata: metadataOf([templates.metadata, objectAt(topology, 'metadata')], {
        [clusterNameLabel]: cluster,
        [isDeployment ? 'topology.cluster.x-k8s.io/deployment-name' : 'topology.cluster.x-k8s.io/pool-name']:
          worker.topologyName,
        [ownedLabel]: '',
      }),
      class: worker.class,
      name: worker.name,
      topologyName: worker.topologyName,
      ...(topology.replicas !== undefined && { replicas: replicasOf(state, worker) }),
      ...(bootstrap !== undefined && { bootstrap: { configRef: { name: bootstrap } } }),
      ...(infrastructure !== undefined && { infrastructureRef: { name: infrastructure } }),
    },
  };
  const holder = (fieldPath: string): JsonObject => ({
    apiVersion: clusterApiVersion,
    kind: worker.kind,
    namespace: textAt(metadata, 'namespace'),
    name: worker.name,
    fieldPath,
  });
  const items: [string, ClassTemplate | undefined][] = [
    ['spec.template.spec.bootstrap.configRef', templates.bootstrap],
    ['spec.template.spec.infrastructureRef', templates.infrastructure],
  ];
  return items.flatMap(([fieldPath, template]) =>
    template === undefined
      ? []
      : [{ holder: holder(fieldPath), object: copyOf(template), overrides: overridesOf(topology), builtin }],
  );
}

function controlPlaneItems(state: State, blueprint: Blueprint, desired: Desired): Item[] {
  const { template, machines, metadata: classMetadata } = blueprint.controlPlane;
  if (template === undefined) {
    return [];
  }
  const { metadata, spec } = state.cluster;
  const [name, namespace] = [textAt(metadata, 'name'), textAt(metadata, 'namespace')];
  const topology = objectAt(spec, 'topology', 'controlPlane');
  const group = textAt(template, 'apiVersion').split('/')[0];
  const { replicas } = topology;
  const builtin: JsonObject = {
    controlPlane: {
      version: desired.version,
      metadata: metadataOf(
        [classMetadata, objectAt(topology, 'metadata')],
        { [clusterNameLabel]: name, [ownedLabel]: '' },
        {
          'cluster.x-k8s.io/cloned-from-groupkind': `${textAt(template, 'kind')}.${group}`,
          'cluster.x-k8s.io/cloned-from-name': textAt(template, 'metadata', 'name'),
        },
      ),
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
    object: copyOf(template),
    overrides,
    builtin,
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
      object: copyOf(machines),
      overrides,
      builtin,
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
            object: copyOf(infrastructureCluster),
            overrides: [],
            builtin: undefined,
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

/** A variable as in a request. */
export const variable = (name: string, value: Json): JsonObject => ({ name, value });
