import {
  copyOf,
  groupOf,
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  objectText,
  textAt,
} from '../../kubernetes/index.ts';
import { applyDefaults, DefaultsError, type Schema, type SchemaOf } from '../../kubernetes/schema/index.ts';
import { coreGroup } from '../../runtimehooks/index.ts';
import { controlPlaneOf } from '../control-planes/index.ts';
import { NotKnown } from '../world/not-known.ts';
import { partsIn } from '../world/topologies.ts';

const asVersion = (version: Json | undefined): Json | undefined =>
  typeof version === 'string' && version !== '' && !version.startsWith('v') ? `v${version}` : version;

function replicasOf({ metadata }: JsonObject, old: JsonObject | undefined): Json {
  const limit = (end: 'min' | 'max'): number =>
    Number(
      textAt(metadata, 'annotations', `cluster.x-k8s.io/cluster-api-autoscaler-node-group-${end}-size`) || Number.NaN,
    );
  const [min, max] = [limit('min'), limit('max')];
  const { replicas } = objectAt(old, 'spec');
  if (Number.isInteger(min) && Number.isInteger(max)) {
    return typeof replicas === 'number' ? Math.min(Math.max(replicas, min), max) : min;
  }
  return 1;
}

function fillMachineDeployment(object: JsonObject, old: JsonObject | undefined): void {
  const { metadata, spec } = object;
  if (!isJsonObject(spec) || !isJsonObject(metadata)) {
    return;
  }
  const clusterName = textAt(spec, 'clusterName');
  const name = { 'cluster.x-k8s.io/cluster-name': clusterName };
  metadata.labels = { ...objectAt(metadata, 'labels'), ...name };
  spec.replicas ??= replicasOf(object, old);
  const strategy = objectAt(spec, 'rollout', 'strategy');
  const type = strategy.type ?? 'RollingUpdate';
  const rollingUpdate = { maxSurge: 1, maxUnavailable: 0, ...objectAt(strategy, 'rollingUpdate') };
  spec.rollout = {
    ...objectAt(spec, 'rollout'),
    strategy: { ...strategy, type, ...(type === 'RollingUpdate' && { rollingUpdate }) },
  };
  const template = objectAt(spec, 'template');
  const labels: JsonObject = { ...objectAt(template, 'metadata', 'labels') };
  const selector = objectAt(spec, 'selector');
  const matchLabels: JsonObject = { ...objectAt(selector, 'matchLabels') };
  if (Object.keys(matchLabels).length === 0 && objectsAt(selector, 'matchExpressions').length === 0) {
    const own = { 'cluster.x-k8s.io/deployment-name': textAt(metadata, 'name') };
    Object.assign(matchLabels, own);
    Object.assign(labels, own);
  }
  const machine: JsonObject = { ...objectAt(template, 'spec') };
  const version = asVersion(machine.version);
  if (version !== undefined) {
    machine.version = version;
  }
  spec.selector = { ...selector, matchLabels: { ...matchLabels, ...name } };
  spec.template = {
    ...template,
    metadata: { ...objectAt(template, 'metadata'), labels: { ...labels, ...name } },
    spec: machine,
  };
}

/** A variable without a value gets null, as Go writes it. */
function fillCluster({ spec }: JsonObject): void {
  const topology = objectAt(spec, 'topology');
  if (Object.keys(topology).length === 0) {
    return;
  }
  const version = textAt(topology, 'version');
  topology.version = version.startsWith('v') ? version : `v${version}`;
  const parts = partsIn(topology, 'spec.topology');
  const overrides = parts.flatMap(({ part }) => objectsAt(part, 'variables', 'overrides'));
  for (const variable of [...objectsAt(topology, 'variables'), ...overrides]) {
    variable.value ??= null;
  }
}

function fillMachinePool({ spec }: JsonObject): void {
  const template = objectAt(spec, 'template');
  const machine = objectAt(template, 'spec');
  if (isJsonObject(spec) && isJsonObject(spec.template)) {
    const deletion = { nodeDeletionTimeoutSeconds: 10, ...objectAt(machine, 'deletion') };
    const version = asVersion(machine.version);
    template.spec = { ...machine, deletion, ...(version !== undefined && { version }) };
  }
}

function fillHealthCheck({ spec }: JsonObject): void {
  if (isJsonObject(spec)) {
    spec.checks = { nodeStartupTimeoutSeconds: 600, ...objectAt(spec, 'checks') };
  }
}

/** The defaults that Cluster API's webhooks set, by group and kind. */
const fillers: Readonly<Record<string, (object: JsonObject, old: JsonObject | undefined) => void>> = {
  [`${coreGroup} Cluster`]: fillCluster,
  [`${coreGroup} MachineDeployment`]: fillMachineDeployment,
  [`${coreGroup} MachineHealthCheck`]: fillHealthCheck,
  [`${coreGroup} MachinePool`]: fillMachinePool,
};

function fillDefaults(object: JsonObject, schema: Schema): void {
  try {
    applyDefaults(object, schema);
  } catch (error) {
    throw error instanceof DefaultsError
      ? new NotKnown(`what becomes of ${objectText(object)} is not known: ${error.message}`)
      : error;
  }
}

/** A copy of an object as it is stored after `old`: with the defaults of its schema, and of Cluster API's webhooks. */
export function stored(object: JsonObject, schemaOf: SchemaOf, old?: JsonObject): JsonObject {
  const copy = copyOf(object);
  const schema = schemaOf(object);
  if (schema !== undefined) {
    fillDefaults(copy, schema);
  }
  const controlPlane = controlPlaneOf(copy);
  if (!isV1beta1(copy) || controlPlane?.isInV1beta1) {
    fillers[`${groupOf(copy)} ${textAt(copy, 'kind')}`]?.(copy, old);
    controlPlane?.fillDefaults?.(copy);
  }
  return copy;
}

const isV1beta1 = (object: JsonObject): boolean => textAt(object, 'apiVersion').endsWith('/v1beta1');
