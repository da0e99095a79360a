import {
  fieldAt,
  isSame,
  type Json,
  type JsonObject,
  nameOf,
  namespaceOf,
  objectAt,
  objectsAt,
  own,
  selectsLabels,
  textAt,
  textValues,
} from '../../kubernetes/index.ts';
import type { Blueprint } from '../blueprint/blueprint.ts';
import { nonEmpty, ownedLabel } from '../patches/items.ts';
import { isDefinedCheck } from '../refusals/index.ts';
import { differencesOf, plainCause } from '../world/differences.ts';
import type { ExistingMachine, GroupChange } from '../world/groups.ts';
import { conditionOf, picked, portion } from '../world/objects.ts';
import type { Cause } from '../world/plan-document.ts';
import { topologyOf } from '../world/topologies.ts';
import type { World } from '../world/world.ts';
import { labelsOf } from './existing.ts';

// The decisions of core/reconcilers/machinehealthcheck (v1.14) about Machines, as far as their own status tells them: what it
// reads of Nodes, Machines have as NodeReady and NodeHealthy.

const hasAnnotation = (machine: JsonObject, name: string): boolean =>
  fieldAt(machine, 'metadata', 'annotations', `cluster.x-k8s.io/${name}`) !== undefined;

const isNot = (condition: JsonObject | undefined): boolean => condition !== undefined && condition.status !== 'True';

const isOlder = (time: string, seconds: Json | undefined, now: Date): boolean =>
  Date.parse(time) + Number(seconds ?? 0) * 1000 < now.getTime();

/** With these, a Node is the reason that NodeReady is not True, and not that nobody can look at it. */
const reasonsOfNodes: ReadonlySet<string> = new Set(['NodeNotReady', 'NodeReadyUnknown']);

/** Whether a Machine has one of the conditions for as long as it says, or a Node has it that is not ready. */
function matches(machine: JsonObject, checks: readonly JsonObject[], isOfNode: boolean, now: Date): boolean {
  return checks.some(({ type, status, timeoutSeconds }) => {
    const condition = conditionOf(machine, isOfNode ? `Node${type}` : String(type));
    return (
      condition !== undefined &&
      condition.status === status &&
      (!isOfNode || (type === 'Ready' && reasonsOfNodes.has(textAt(condition, 'reason')))) &&
      isOlder(textAt(condition, 'lastTransitionTime'), timeoutSeconds, now)
    );
  });
}

/** Whether a Machine did not become a Node in time. Of one that does not say how far its infrastructure is, nothing is known. */
function isLate(machine: JsonObject, seconds: Json | undefined, now: Date): boolean {
  const infrastructure = conditionOf(machine, 'InfrastructureReady');
  const since = infrastructure?.status === 'True' ? textAt(infrastructure, 'lastTransitionTime') : '';
  return (
    infrastructure !== undefined &&
    fieldAt(machine, 'status', 'nodeRef') === undefined &&
    Number(seconds) > 0 &&
    [textAt(machine, 'metadata', 'creationTimestamp'), since].every(
      (time) => time === '' || isOlder(time, seconds, now),
    )
  );
}

/** The Machines that a MachineHealthCheck with this spec calls unhealthy at once, and whether so many are remediated. */
function judged(spec: JsonObject, all: readonly JsonObject[], cluster: JsonObject, now: Date) {
  const machines = all.filter((one) => !hasAnnotation(one, 'paused') && !hasAnnotation(one, 'skip-remediation'));
  const {
    nodeStartupTimeoutSeconds = 600,
    unhealthyMachineConditions,
    unhealthyNodeConditions,
  } = objectAt(spec.checks);
  const isWaiting = (type: string) => isNot(conditionOf(cluster, type));
  const isUnhealthy = (machine: JsonObject) =>
    hasAnnotation(machine, 'remediate-machine') ||
    (!isWaiting('InfrastructureReady') &&
      (!isWaiting('ControlPlaneInitialized') ||
        fieldAt(machine, 'metadata', 'labels', 'cluster.x-k8s.io/control-plane') !== undefined) &&
      (matches(machine, objectsAt(unhealthyMachineConditions), false, now) ||
        matches(machine, objectsAt(unhealthyNodeConditions), true, now) ||
        isLate(machine, nodeStartupTimeoutSeconds, now)));
  const unhealthy = machines.filter(isUnhealthy).map(nameOf);
  const { unhealthyInRange, unhealthyLessThanOrEqualTo } = objectAt(spec, 'remediation', 'triggerIf');
  const range = /^\[(\d+)-(\d+)\]$/.exec(String(unhealthyInRange));
  const count = machines.length;
  const [least, most] = range
    ? [Number(range[1]), Number(range[2])]
    : [0, portion(unhealthyLessThanOrEqualTo, count, Math.floor, count)];
  return { count, unhealthy, isAllowed: unhealthy.length >= least && unhealthy.length <= most };
}

function untold(spec: JsonObject, machines: readonly JsonObject[]): string[] {
  const isHealthy = machines.every((machine) => !isNot(conditionOf(machine, 'NodeHealthy')));
  return objectsAt(spec, 'checks', 'unhealthyNodeConditions').flatMap(({ type, status }) => {
    const isPressure = ['MemoryPressure', 'DiskPressure', 'PIDPressure'].includes(String(type)) && status === 'True';
    return type === 'Ready' || (isPressure && isHealthy) ? [] : [String(type)];
  });
}

/** The Machines that a changed MachineHealthCheck has remediated at once, and did not before. */
export function remediationTexts(
  before: JsonObject | undefined,
  after: JsonObject,
  existing: readonly ExistingMachine[] | undefined,
  cluster: JsonObject,
  now: Date,
): string[] {
  const machines = (existing ?? []).map(({ machine }) => machine);
  if (!machines.some(({ status }) => status !== undefined)) {
    return ['the health check has Machines remediated that are unhealthy by it; the status of Machines is not known'];
  }
  const old = before && judged(before, machines, cluster, now);
  const { count, unhealthy, isAllowed } = judged(after, machines, cluster, now);
  const known = new Set(old?.isAllowed === true ? old.unhealthy : []);
  const found = unhealthy.filter((name) => !known.has(name));
  const names = untold(after, machines);
  const list = `${found.length} of ${count} Machines (${found.join(', ')})`;
  return [
    found.length === 0
      ? 'no more Machines are unhealthy by the health check at once'
      : isAllowed
        ? `the health check has ${list} remediated at once, which are unhealthy by it`
        : `${list} are unhealthy by the health check at once, and it has none remediated: so many are not allowed (triggerIf)`,
    ...(names.length === 0 ? [] : [`conditions of Nodes are not known: ${names.join(', ')}`]),
  ];
}

export interface ClusterOfClass {
  cluster: JsonObject | undefined;
  blueprint: Blueprint | undefined;
}

const defaultStartupSeconds = 600;

/** Its settings in the topology and in the class; empty for a group that has no health checks. */
function settingsOf({ cluster, blueprint }: ClusterOfClass, group: GroupChange): JsonObject[] {
  const topology = topologyOf(cluster);
  if (group.group === 'control-plane') {
    const { machines, settings } = blueprint?.controlPlane ?? {};
    return machines === undefined ? [] : [objectAt(topology, 'controlPlane'), objectAt(settings)];
  }
  const worker = objectsAt(topology, 'workers', 'machineDeployments').find(({ name }) => name === group.group);
  return group.kind !== 'MachineDeployment' || worker === undefined
    ? []
    : [worker, objectAt(blueprint?.machineDeployments.get(textAt(worker, 'class'))?.settings)];
}

/** All of it comes from the topology, or else from the class (exp/topology/scope/blueprint.go, v1.14). */
function healthCheckOf(state: ClusterOfClass, group: GroupChange): JsonObject | undefined {
  const [own = {}, ofClass = {}] = settingsOf(state, group).map((settings) => objectAt(settings, 'healthCheck'));
  const source = isDefinedCheck(own) ? own : ofClass;
  if (!isDefinedCheck(source) || own.enabled === false) {
    return undefined;
  }
  return {
    checks: { nodeStartupTimeoutSeconds: defaultStartupSeconds, ...objectAt(source.checks) },
    ...nonEmpty('remediation', picked(objectAt(source.remediation), ['triggerIf', 'templateRef'])),
  };
}

function machineLabels({ group, name, machines: [first] = [], cluster, before, after }: GroupChange) {
  const { object = {} } = after ?? before ?? {};
  const isControlPlane = group === 'control-plane';
  const made = {
    ...objectAt(object, 'spec', isControlPlane ? 'machineTemplate' : 'template', 'metadata', 'labels'),
    'cluster.x-k8s.io/cluster-name': nameOf(cluster),
    ...(isControlPlane ? { 'cluster.x-k8s.io/control-plane': '' } : { 'cluster.x-k8s.io/deployment-name': name }),
  };
  return textValues(first === undefined ? made : objectAt(first.machine, 'metadata', 'labels'));
}

function checksOf(state: ClusterOfClass, world: World, change: GroupChange): Map<string, JsonObject> {
  const { cluster, group, name } = change;
  const isOfUser = (check: JsonObject) =>
    own(labelsOf(check), ownedLabel) === undefined &&
    selectsLabels(objectAt(check, 'spec', 'selector'), machineLabels(change));
  const ofUsers = world.findOfCluster('MachineHealthCheck', cluster).filter(isOfUser);
  const ofTopology = healthCheckOf(state, change);
  return new Map([
    ...(ofTopology ? [[name || group, ofTopology] as const] : []),
    ...ofUsers.map((check) => [nameOf(check), objectAt(check, 'spec')] as const),
  ]);
}

/** The fields of a group's MachineHealthChecks that change, and the Machines that this concerns, in plain sentences. */
export function healthCheckChanges(
  [before, after]: readonly [ClusterOfClass, ClusterOfClass],
  [old, next]: readonly [World, World],
  change: GroupChange,
  now: Date,
): { healthCheck: Cause[]; texts: string[] } {
  const isKnown = before.blueprint !== undefined && after.blueprint !== undefined;
  const none = { cluster: undefined, blueprint: undefined };
  const [was, wanted] = [
    checksOf(isKnown ? before : none, old, change),
    checksOf(isKnown ? after : none, next, change),
  ];
  const changed = [...new Set([...was.keys(), ...wanted.keys()])].filter(
    (name) => !isSame(was.get(name), wanted.get(name)),
  );
  return {
    healthCheck: changed.flatMap((name) =>
      differencesOf(was.get(name), wanted.get(name), ['spec']).map((difference) =>
        plainCause(`MachineHealthCheck ${namespaceOf(change.cluster)}/${name}`, difference),
      ),
    ),
    texts: changed.flatMap((name) => {
      const spec = wanted.get(name);
      return spec === undefined ? [] : remediationTexts(was.get(name), spec, change.machines, change.cluster, now);
    }),
  };
}
