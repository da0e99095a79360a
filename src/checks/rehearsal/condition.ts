import { pausedAnnotation } from '../../extensionconfig/index.ts';
import { fieldAt } from '../../kubernetes/index.ts';
import type { Condition } from './player.ts';
import type { State } from './state.ts';
import { type Decisions, workerKinds } from './versions.ts';

const condition = (status: 'True' | 'False', reason: string, message = ''): Condition => ({
  kind: 'condition',
  status,
  reason,
  message,
});

/** Hooks that block, as Cluster API lists them. Its own order is random; here it is the order of the calls. */
const hooksText = (action: string, blocking: ReadonlyMap<string, string>) => {
  const hooks = [...blocking].map(([hook, message]) => (message === '' ? hook : `${hook}: ${message}`));
  return `Following hooks are blocking ${action}: ${hooks.join('; ')}`;
};

const maxNames = 3;

function namesText(kind: string, all: readonly string[]): string {
  const names = all.toSorted();
  const shown = names.slice(0, maxNames).join(', ');
  const more = names.length > maxNames ? `, ... (${names.length - maxNames} more)` : '';
  return `${kind}${names.length === 1 ? '' : 's'} ${shown}${more}`;
}

/** The texts of deferred upgrades: Cluster API writes them differently. */
const deferral = {
  MachineDeployment: 'defer-upgrade or hold-upgrade-sequence annotations',
  MachinePool: 'topology.cluster.x-k8s.io/defer-upgrade or hold-upgrade-sequence annotations',
} as const;

function upgradingCondition(state: State, decisions: Decisions): Condition | undefined {
  const { blocking } = state.reconcile;
  const { plan, version, phase, workers } = decisions;
  const isUpgrading =
    state.pending.has('AfterClusterUpgrade') ||
    version !== state.target ||
    phase === 'upgrading' ||
    phase === 'starting' ||
    workers.some((worker) => worker.isUpgrading || worker.isPending);
  if (!isUpgrading) {
    return undefined;
  }
  let reason = 'ClusterUpgrading';
  const lines = [`Cluster is upgrading to ${state.target}`];
  const later = (steps: readonly string[]) => {
    const others = steps.filter((step) => step !== version);
    return others.length > 0 ? ` (${others.join(', ')} pending)` : '';
  };
  const isBlocked = blocking.size > 0;
  if (isBlocked) {
    lines.push(hooksText('upgrade', blocking));
  }
  const isControlPlaneBusy = phase === 'upgrading' || phase === 'starting';
  if (isControlPlaneBusy) {
    lines.push(`${state.controlPlane.kind} upgrading to version ${version}${later(plan.controlPlane)}`);
  } else if (plan.controlPlane.length > 0) {
    lines.push(`${state.controlPlane.kind} pending upgrade to version ${plan.controlPlane.join(', ')}`);
  }
  for (const kind of workerKinds) {
    const namesOf = (isOne: (decision: Decisions['workers'][number]) => boolean) =>
      workers.filter((one) => one.worker.kind === kind && isOne(one)).map(({ worker }) => worker.name);
    const upgrading = namesOf(({ isUpgrading }) => isUpgrading);
    const deferred = namesOf(({ isUpgrading, isDeferred }) => isDeferred && !isUpgrading);
    const pending = namesOf(({ isUpgrading, isDeferred, isPending }) => isPending && !isDeferred && !isUpgrading);
    if (upgrading.length > 0) {
      lines.push(`${namesText(kind, upgrading)} upgrading to version ${version}${later(plan.workers)}`);
    }
    if (pending.length > 0 && plan.workers.length > 0) {
      lines.push(`${namesText(kind, pending)} pending upgrade to version ${plan.workers.join(', ')}`);
    }
    if (deferred.length > 0) {
      lines.push(`${namesText(kind, deferred)} upgrade to version ${version} deferred using ${deferral[kind]}`);
      const onlyDeferred = !isBlocked && !isControlPlaneBusy && upgrading.length === 0 && pending.length === 0;
      if (onlyDeferred && reason === 'ClusterUpgrading') {
        reason = `${kind}sUpgradeDeferred`;
      }
    }
  }
  return condition('False', reason, lines.join('\n  * '));
}

/**
 * TopologyReconciled after a reconcile without an error (core/reconcilers/topology/cluster/status.go, v1.14); without
 * decisions if it ended before those about versions.
 */
export function conditionOf(state: State, decisions?: Decisions): Condition {
  const { blocking } = state.reconcile;
  if (state.cluster.metadata.deletionTimestamp !== undefined) {
    const hooks = blocking.size > 0 ? `. ${hooksText('delete', blocking)}` : '';
    return condition('False', 'Deleting', `Cluster is deleting${hooks}`);
  }
  if (decisions === undefined) {
    return condition('False', 'ClusterCreating', hooksText('Cluster topology creation', blocking));
  }
  return upgradingCondition(state, decisions) ?? condition('True', 'ReconcileSucceeded');
}

export const failedCondition = (message: string): Condition => condition('False', 'ReconcileFailed', message);

/** The condition TopologyReconciled of a paused Cluster, for which no hook is called; undefined if it is not paused. */
export function pausedCondition({ cluster }: State): Condition | undefined {
  const isAnnotated = fieldAt(cluster, 'metadata', 'annotations', pausedAnnotation) !== undefined;
  const messages = [
    fieldAt(cluster, 'spec', 'paused') === true && 'Cluster spec.paused is set to true',
    isAnnotated && `Cluster has the ${pausedAnnotation} annotation`,
  ].filter((message) => message !== false);
  return messages.length === 0 ? undefined : condition('False', 'Paused', messages.join(', '));
}
