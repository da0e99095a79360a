import { copyOf, isJsonObject, type JsonObject, objectAt, objectsAt, textAt } from '../../kubernetes/index.ts';
import { type Change, duration, durationOf, gone, type Moves, moved, present, secondsOf } from './moves.ts';
import { coreGroup } from './objects.ts';

const conditions: Change = {
  newer: (list) =>
    objectsAt(list).map(({ type, status, timeout }) => present({ type, status, timeoutSeconds: secondsOf(timeout) })),
  older: (list) =>
    objectsAt(list).map(({ type, status, timeoutSeconds }) =>
      present({ type, status, timeout: durationOf(timeoutSeconds ?? 0) }),
    ),
};
/** References to templates lose their namespace, which is that of the class. */
const template: Change = {
  newer: (reference) => {
    const { apiVersion, kind, name } = objectAt(reference);
    return present({ apiVersion, kind, name });
  },
  older: (reference) => reference,
};
const variables: Change = {
  newer: (list) => objectsAt(list).map(({ definitionFrom: _, ...variable }) => variable),
  older: (list) => list,
};

/** Of a control plane or a group of workers, in a topology or a class. */
const partMoves: Moves = [
  ['machineHealthCheck.enable', 'healthCheck.enabled'],
  ['machineHealthCheck.unhealthyConditions', 'healthCheck.checks.unhealthyNodeConditions', conditions],
  ['machineHealthCheck.unhealthyMachineConditions', 'healthCheck.checks.unhealthyMachineConditions', conditions],
  ['machineHealthCheck.nodeStartupTimeout', 'healthCheck.checks.nodeStartupTimeoutSeconds', duration],
  ['machineHealthCheck.maxUnhealthy', 'healthCheck.remediation.triggerIf.unhealthyLessThanOrEqualTo'],
  ['machineHealthCheck.unhealthyRange', 'healthCheck.remediation.triggerIf.unhealthyInRange'],
  ['machineHealthCheck.remediationTemplate', 'healthCheck.remediation.templateRef', template],
  ['strategy.remediation.maxInFlight', 'healthCheck.remediation.maxInFlight'],
  ['strategy.rollingUpdate.deletePolicy', 'deletion.order'],
  ['strategy', 'rollout.strategy'],
  ...['nodeDrainTimeout', 'nodeVolumeDetachTimeout', 'nodeDeletionTimeout'].map(
    (field) => [field, `deletion.${field}Seconds`, duration] as const,
  ),
  ['namingStrategy', 'naming'],
  ['variables.overrides', 'variables.overrides', variables],
];
const topologyMoves: Moves = [
  ['class', 'classRef.name'],
  ['classNamespace', 'classRef.namespace'],
  ['variables', 'variables', variables],
  ['rolloutAfter', 'rolloutAfter', gone],
];
const classPartMoves: Moves = [
  ...partMoves,
  ['ref', 'templateRef', template],
  ['machineInfrastructure.ref', 'machineInfrastructure.templateRef', template],
  ['template.bootstrap.ref', 'bootstrap.templateRef', template],
  ['template.infrastructure.ref', 'infrastructure.templateRef', template],
  ['template.metadata', 'metadata'],
];
const classMoves: Moves = [
  ['infrastructure.ref', 'infrastructure.templateRef', template],
  ['infrastructureNamingStrategy.template', 'infrastructure.naming.template'],
];
const patchMoves: Moves = [
  ['external.generateExtension', 'external.generatePatchesExtension'],
  ['external.validateExtension', 'external.validateTopologyExtension'],
];

/**
 * Changes the control plane and the groups of workers in a topology or a class. Of a group, `place` is the list, and
 * `index` its place there.
 */
export function eachPart(
  spec: JsonObject,
  change: (part: JsonObject, place: string, index: number | undefined) => JsonObject,
): void {
  if (isJsonObject(spec.controlPlane)) {
    spec.controlPlane = change(spec.controlPlane, 'controlPlane', undefined);
  }
  const workers = objectAt(spec, 'workers');
  for (const list of ['machineDeployments', 'machinePools']) {
    if (workers[list] !== undefined) {
      workers[list] = objectsAt(workers, list).map((group, index) => change(group, `workers.${list}`, index));
    }
  }
}

/** The reference of a Cluster to an object of its namespace. */
function changeReferences(spec: JsonObject, change: (reference: JsonObject) => JsonObject): void {
  for (const field of ['controlPlaneRef', 'infrastructureRef']) {
    const reference = spec[field];
    if (isJsonObject(reference)) {
      spec[field] = change(reference);
    }
  }
}

function clusterOf(cluster: JsonObject): void {
  const spec = objectAt(cluster, 'spec');
  changeReferences(spec, ({ apiVersion, kind, name }) =>
    present({ apiGroup: String(apiVersion ?? '').split('/')[0], kind, name }),
  );
  if (isJsonObject(spec.topology)) {
    spec.topology = moved(spec.topology, topologyMoves, 'newer');
    eachPart(spec.topology, (part) => moved(part, partMoves, 'newer'));
  }
}

function classOf(clusterClass: JsonObject): void {
  const spec = moved(objectAt(clusterClass, 'spec'), classMoves, 'newer');
  clusterClass.spec = spec;
  eachPart(spec, (part) => moved(part, classPartMoves, 'newer'));
  if (spec.patches !== undefined) {
    spec.patches = objectsAt(spec.patches).map((patch) => moved(patch, patchMoves, 'newer'));
  }
}

/**
 * A Cluster or ClusterClass of v1beta1 in v1beta2, as Cluster API's conversion makes it (api/core/v1beta1/conversion.go,
 * v1.14); other objects as they are.
 */
export function inV1beta2(object: JsonObject): JsonObject {
  const { apiVersion, kind } = object;
  if (apiVersion !== `${coreGroup}/v1beta1` || (kind !== 'Cluster' && kind !== 'ClusterClass')) {
    return object;
  }
  const converted = { ...copyOf(object), apiVersion: `${coreGroup}/v1beta2` };
  if (kind === 'Cluster') {
    clusterOf(converted);
  } else {
    classOf(converted);
  }
  return converted;
}

/**
 * A Cluster in v1beta1, as hooks got it before Cluster API 1.13. The apiVersions of its references are those of the
 * providers' kinds.
 */
export function clusterInV1beta1(cluster: JsonObject, versionOf: (reference: JsonObject) => string): JsonObject {
  const converted = { ...copyOf(cluster), apiVersion: `${coreGroup}/v1beta1` };
  const namespace = textAt(cluster, 'metadata', 'namespace');
  const spec = objectAt(converted, 'spec');
  changeReferences(spec, (reference) => {
    const { kind = '', name = '' } = reference;
    return { apiVersion: versionOf(reference), kind, name, namespace };
  });
  const topology = moved(objectAt(spec, 'topology'), topologyMoves, 'older');
  eachPart(topology, (part) => moved(part, partMoves, 'older'));
  spec.topology = topology;
  return converted;
}
