import { fieldAt, type Json, type JsonObject, nameOf, objectAt, objectsAt, textAt } from '../../kubernetes/index.ts';
import type { ExistingMachine } from '../world/groups.ts';
import { conditionOf, portion } from '../world/objects.ts';

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

/** Conditions of Nodes that Machines do not tell. */
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
