import { fieldAt } from '../../../kubernetes/index.ts';
import type { Reconcile } from '../cluster/ask.ts';
import type { SimulatedEvent, Simulation } from '../cluster/effects.ts';
import { isPending, type State, targetOf, tell, type WorkerGroup } from '../cluster/state.ts';
import type { Plan } from './plan.ts';

type Condition = Extract<SimulatedEvent, { kind: 'condition' }>;

const condition = (status: 'True' | 'False', reason: string, message = ''): Condition => ({
  kind: 'condition',
  status,
  reason,
  message,
});

/** Hooks that block, as Cluster API lists them. Its own order is random; here it is the order of the calls. */
const hooksText = (blocking: ReadonlyMap<string, string>) =>
  [...blocking].map(([hook, message]) => (message === '' ? hook : `${hook}: ${message}`)).join('; ');

const pendingText = (versions: readonly string[]) => (versions.length > 0 ? ` (${versions.join(', ')} pending)` : '');

function namesText(workers: readonly WorkerGroup[]): string {
  const [first] = workers;
  return `${first?.kind}${workers.length === 1 ? '' : 's'} ${workers.map(({ name }) => name).join(', ')}`;
}

/** The condition TopologyReconciled after a successful reconcile. */
export function conditionOf({ state, blocking }: Reconcile, plan: Plan): Condition {
  const target = targetOf(state);
  if (state.cluster.metadata.deletionTimestamp !== undefined) {
    const hooks = blocking.size > 0 ? `. Following hooks are blocking delete: ${hooksText(blocking)}` : '';
    return condition('False', 'Deleting', `Cluster is deleting${hooks}`);
  }
  if (blocking.has('BeforeClusterCreate')) {
    return condition(
      'False',
      'ClusterCreating',
      `Following hooks are blocking Cluster topology creation: ${hooksText(blocking)}`,
    );
  }
  const { controlPlane, workers } = state;
  const isOff = (worker: WorkerGroup) => worker.version !== undefined && worker.version !== target;
  const isUpgrading =
    isPending(state, 'AfterClusterUpgrade') ||
    (controlPlane.version !== undefined && controlPlane.version !== target) ||
    workers.some(isOff);
  if (!isUpgrading) {
    return condition('True', 'ReconcileSucceeded');
  }
  const lines = [`Cluster is upgrading to ${target}`];
  if (blocking.size > 0) {
    lines.push(`Following hooks are blocking upgrade: ${hooksText(blocking)}`);
  }
  if (controlPlane.readyAt !== undefined) {
    const later = plan.controlPlane.filter((version) => version !== controlPlane.version);
    lines.push(`${controlPlane.kind} upgrading to version ${controlPlane.version}${pendingText(later)}`);
  } else if (plan.controlPlane.length > 0) {
    lines.push(`${controlPlane.kind} pending upgrade to version ${plan.controlPlane.join(', ')}`);
  }
  for (const kind of ['MachineDeployment', 'MachinePool'] as const) {
    const ofKind = workers.filter((worker) => worker.kind === kind);
    const upgrading = ofKind.filter(({ readyAt }) => readyAt !== undefined);
    if (upgrading.length > 0) {
      const later = plan.workers.filter((version) => version !== upgrading[0]?.version);
      lines.push(`${namesText(upgrading)} upgrading to version ${upgrading[0]?.version}${pendingText(later)}`);
    }
    const waiting = ofKind.filter((worker) => worker.readyAt === undefined && isOff(worker));
    const deferred = waiting.filter(({ held }) => held === 'defer');
    const pending = waiting.filter(({ held }) => held !== 'defer');
    if (pending.length > 0) {
      lines.push(`${namesText(pending)} pending upgrade to version ${plan.workers.join(', ') || target}`);
    }
    if (deferred.length > 0) {
      lines.push(`${namesText(deferred)} deferred upgrade to version ${plan.workers.join(', ') || target}`);
    }
  }
  const onlyDeferred =
    controlPlane.version === target &&
    controlPlane.readyAt === undefined &&
    blocking.size === 0 &&
    workers.some(isOff) &&
    workers.every((worker) => !isOff(worker) || worker.held === 'defer');
  const deferredKind = workers.find(isOff)?.kind;
  return condition(
    'False',
    onlyDeferred ? `${deferredKind}sUpgradeDeferred` : 'ClusterUpgrading',
    lines.map((line, index) => (index === 0 ? line : `  * ${line}`)).join('\n'),
  );
}

/** The condition TopologyReconciled after a failed reconcile. */
export const failedCondition = (state: State, message: string): Condition =>
  state.cluster.metadata.deletionTimestamp === undefined
    ? condition('False', 'ReconcileFailed', message)
    : condition('False', 'Deleting', 'Cluster is deleting');

/** The condition TopologyReconciled of a Cluster that is not reconciled. */
export const pausedCondition: Condition = condition('False', 'Paused', 'Cluster spec.paused is set to true');

const pausedAnnotation = 'cluster.x-k8s.io/paused';

/** Whether a Cluster is paused, so that no hook is called for it. */
export const isPaused = ({ cluster }: State): boolean =>
  fieldAt(cluster, 'spec', 'paused') === true ||
  fieldAt(cluster, 'metadata', 'annotations', pausedAnnotation) !== undefined;

/** Reports a condition when it has changed. */
export function* tellCondition(state: State, told: Condition): Simulation {
  const text = JSON.stringify(told);
  if (text !== state.condition) {
    state.condition = text;
    yield tell(state, told);
  }
}
