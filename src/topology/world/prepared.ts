import { groupOf, isJsonObject, type JsonObject, objectAt, objectsAt, textAt } from '../../kubernetes/index.ts';
import { coreGroup } from '../../runtimehooks/index.ts';
import { picked } from './objects.ts';

/** Whether Cluster API makes an object itself: it is not part of what a user applies. */
export function isMade(object: JsonObject): boolean {
  const labels = objectAt(object, 'metadata', 'labels');
  const isOwned = Object.hasOwn(labels, 'topology.cluster.x-k8s.io/owned');
  const isOfCluster = Object.hasOwn(labels, 'cluster.x-k8s.io/cluster-name');
  const kind = textAt(object, 'kind');
  if (groupOf(object) === coreGroup) {
    return ['Machine', 'MachineSet'].includes(kind) || (isOwned && kind !== 'Cluster');
  }
  const isProvider = /(?:infrastructure|bootstrap)\.cluster\.x-k8s\.io$/.test(groupOf(object));
  const isOfMachine = ['control-plane', 'deployment-name', 'set-name'].some((label) =>
    Object.hasOwn(labels, `cluster.x-k8s.io/${label}`),
  );
  return isOwned || (isProvider && isOfCluster && isOfMachine);
}

/** The parts of a status that a plan reads, of whatever kind. */
const statusFields = [
  ...['variables', 'handlers', 'certificatesExpiryDate', 'version', 'versions'],
  ...['readyReplicas', 'upToDateReplicas', 'updatedReplicas'],
];

const conditionTypes: ReadonlySet<unknown> = new Set(['Deleting', 'Discovered', 'MachinesReady', 'TopologyReconciled']);

/** The conditions of healthy Machines and of their Nodes, by their status. */
const healthyConditions = {
  True: [
    ...['Available', 'Ready', 'UpToDate', 'BootstrapConfigReady', 'InfrastructureReady', 'NodeReady', 'NodeHealthy'],
    ...['NodeKubeadmLabelsAndTaintsSet', 'APIServerPodHealthy', 'ControllerManagerPodHealthy'],
    ...['SchedulerPodHealthy', 'EtcdPodHealthy', 'EtcdMemberHealthy', 'HealthCheckSucceeded'],
  ],
  False: [
    ...['Deleting', 'Updating', 'Paused', 'Remediating'],
    ...['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable'],
  ],
};

/** The status that a condition of a healthy Machine, or of its Node, has. */
export const healthyStatus: ReadonlyMap<unknown, string> = new Map(
  Object.entries(healthyConditions).flatMap(([status, types]) => types.map((type) => [type, status] as const)),
);

/** Without these, a Cluster's Machines are not remediated. */
const clusterConditions: ReadonlySet<unknown> = new Set(['ControlPlaneInitialized', 'InfrastructureReady']);

/** Whether a condition decides on remediation: of Machines and Clusters that are well, none is kept. */
function isUnusual(kind: unknown, { type, status }: JsonObject, hasNode: boolean): boolean {
  return kind === 'Machine'
    ? healthyStatus.get(type) !== status || (type === 'InfrastructureReady' && !hasNode)
    : kind === 'Cluster' && clusterConditions.has(type) && status !== 'True';
}

/** The part of a status that a plan reads: `v1beta2` holds the newer conditions of an object in v1beta1. */
function preparedStatus(status: JsonObject, kind: unknown, hasNode = isJsonObject(status.nodeRef)): JsonObject {
  const conditions = objectsAt(status, 'conditions').filter(
    (condition) => conditionTypes.has(condition.type) || isUnusual(kind, condition, hasNode),
  );
  const newer = isJsonObject(status.v1beta2) ? preparedStatus(status.v1beta2, kind, hasNode) : {};
  const kubeletVersion = textAt(status, 'nodeInfo', 'kubeletVersion');
  return {
    ...picked(status, statusFields),
    ...(conditions.length > 0 && { conditions }),
    // That it has a Node.
    ...(isJsonObject(status.nodeRef) && { nodeRef: {} }),
    ...(kubeletVersion !== '' && { nodeInfo: { kubeletVersion } }),
    ...(Object.keys(newer).length > 0 && { v1beta2: newer }),
  };
}

const preparedManagers = (managers: readonly JsonObject[]): JsonObject[] =>
  managers
    .filter(({ subresource = '' }) => subresource === '')
    .map(({ manager = '', operation = '', apiVersion = '', time = '', fieldsV1 }) => {
      const { 'f:status': _status, ...fields } = objectAt(fieldsV1);
      return { manager, operation, apiVersion, time, fieldsV1: fields };
    });

/**
 * Keeps of an object what plans read of it, the same whether it comes from a file, a list or a watch. Who wrote which field is
 * kept of what users apply: a field that its owner no longer gives goes away. That triples them in a watch's memory.
 */
export function prepared(object: JsonObject): JsonObject {
  const { status, ...rest } = object;
  const { managedFields, finalizers: _finalizers, generation, ...own } = objectAt(object, 'metadata');
  const { observedGeneration } = objectAt(status);
  // Kept if the controller has not seen the newest change.
  const isUnseen = Number(observedGeneration) < Number(generation);
  const managers =
    managedFields === undefined || isMade(object)
      ? []
      : preparedManagers(objectsAt(object, 'metadata', 'managedFields'));
  const known = {
    ...preparedStatus(objectAt(status), object.kind),
    ...(isUnseen && { observedGeneration: Number(observedGeneration) }),
  };
  return {
    ...rest,
    metadata: {
      ...own,
      ...(isUnseen && { generation: Number(generation) }),
      ...(managers.length > 0 && { managedFields: managers }),
    },
    ...(Object.keys(known).length > 0 && { status: known }),
  };
}
