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
import { applyDefaults, DefaultsError, type SchemaOf } from '../../kubernetes/schema/index.ts';
import { coreGroup } from '../../runtimehooks/index.ts';
import { controlPlaneOf } from '../control-planes/index.ts';
import { NotKnown } from '../world/not-known.ts';
import { partsIn } from '../world/topologies.ts';

/** The object at a path, which is made where it is missing. */
const objectIn = (holder: JsonObject, ...path: string[]): JsonObject =>
  path.reduce((at, name) => {
    const { [name]: known } = at;
    const object = isJsonObject(known) ? known : {};
    at[name] = object;
    return object;
  }, holder);

function fillVersion(machine: JsonObject): void {
  const version = textAt(machine, 'version');
  if (version !== '' && !version.startsWith('v')) {
    machine.version = `v${version}`;
  }
}

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
  const name = { 'cluster.x-k8s.io/cluster-name': textAt(spec, 'clusterName') };
  Object.assign(objectIn(metadata, 'labels'), name);
  spec.replicas ??= replicasOf(object, old);
  const strategy = objectIn(spec, 'rollout', 'strategy');
  strategy.type ??= 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    strategy.rollingUpdate = { maxSurge: 1, maxUnavailable: 0, ...objectAt(strategy, 'rollingUpdate') };
  }
  const matchLabels = objectIn(spec, 'selector', 'matchLabels');
  const selectsAll =
    Object.keys(matchLabels).length === 0 && objectsAt(spec, 'selector', 'matchExpressions').length === 0;
  const own = selectsAll && { 'cluster.x-k8s.io/deployment-name': textAt(metadata, 'name') };
  Object.assign(matchLabels, own, name);
  Object.assign(objectIn(spec, 'template', 'metadata', 'labels'), own, name);
  fillVersion(objectIn(spec, 'template', 'spec'));
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
  const machine = objectIn(template, 'spec');
  machine.deletion = { nodeDeletionTimeoutSeconds: 10, ...objectAt(machine, 'deletion') };
  fillVersion(machine);
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

/**
 * A copy of an object as it is stored after `old`: with the defaults of its schema, and of Cluster API's webhooks.
 *
 * @throws {NotKnown} when the defaults exceed the limit of what is computed here.
 */
export function stored(object: JsonObject, schemaOf: SchemaOf, old?: JsonObject): JsonObject {
  const copy = copyOf(object);
  try {
    applyDefaults(copy, schemaOf(object) ?? {});
  } catch (error) {
    throw error instanceof DefaultsError
      ? new NotKnown(`what becomes of ${objectText(object)} is not known: ${error.message}`)
      : error;
  }
  const controlPlane = controlPlaneOf(copy);
  if (!textAt(copy, 'apiVersion').endsWith('/v1beta1') || controlPlane?.isInV1beta1) {
    fillers[`${groupOf(copy)} ${textAt(copy, 'kind')}`]?.(copy, old);
    controlPlane?.fillDefaults?.(copy);
  }
  return copy;
}
