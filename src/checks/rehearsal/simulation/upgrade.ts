import type { JsonObject } from '../../../kubernetes/index.ts';
import { ask, block, type Reconcile } from '../cluster/ask.ts';
import type { Simulation } from '../cluster/effects.ts';
import { annotationsOf, isPending, setPending, targetOf } from '../cluster/state.ts';
import { lowestWorkerVersion, type Plan, stepsInRequest, upgradePlan } from './plan.ts';

const prefix =
  'error computing the desired state of the Cluster topology: failed to compute ControlPlane: failed to compute version of ControlPlane: ';

/** Prefix of the annotations with which a user blocks an upgrade, as BeforeClusterUpgrade does. */
const blockingAnnotation = 'before-upgrade.hook.cluster.cluster.x-k8s.io';
/** How soon Cluster API checks these annotations again, in ms. */
const annotationRetryMs = 20 * 60_000;

/**
 * Decides about versions in one reconcile: which hooks are called, and which version the control plane gets. Each
 * reconcile goes through the steps from the beginning, up to the first one that waits.
 *
 * @returns the version that the control plane should have, and the rest of the plan.
 */
export function* decideVersions(reconcile: Reconcile): Simulation<{ version: string; plan: Plan }> {
  const { state } = reconcile;
  const { controlPlane, workers } = state;
  const target = targetOf(state);
  const none: Plan = { controlPlane: [], workers: [] };
  if (controlPlane.version === undefined) {
    return { version: target, plan: none };
  }
  const current = controlPlane.version;
  const isOffTarget = current !== target || workers.some(({ version }) => version !== undefined && version !== target);
  const plan = isOffTarget ? yield* upgradePlan(reconcile) : none;
  const steps = stepsInRequest(plan);
  const stays = { version: current, plan };
  if (controlPlane.readyAt !== undefined) {
    return stays;
  }
  const blocks = function* (hook: Parameters<typeof ask>[1], fields: JsonObject): Simulation<boolean> {
    if (!isPending(state, hook)) {
      return false;
    }
    if ((yield* ask(reconcile, hook, { ...fields, ...steps }, prefix)) === 'blocked') {
      return true;
    }
    yield* setPending(state, [], [hook]);
    reconcile.isChanged = true;
    return false;
  };
  if (yield* blocks('AfterControlPlaneUpgrade', { kubernetesVersion: current })) {
    return stays;
  }
  const fromWorkers = lowestWorkerVersion(state) ?? current;
  if (yield* blocks('BeforeWorkersUpgrade', { fromKubernetesVersion: fromWorkers, toKubernetesVersion: current })) {
    return stays;
  }
  if (plan.workers[0] === current || workers.some(({ readyAt }) => readyAt !== undefined)) {
    return stays;
  }
  if (yield* blocks('AfterWorkersUpgrade', { kubernetesVersion: current })) {
    return stays;
  }
  const [next] = plan.controlPlane;
  if (current === target || next === undefined) {
    return stays;
  }
  if (!isPending(state, 'AfterClusterUpgrade')) {
    const keys = Object.keys(annotationsOf(state.cluster)).filter((key) => key.startsWith(blockingAnnotation));
    if (keys.length > 0) {
      const names = keys.sort().join(', ');
      const message = `annotation${keys.length === 1 ? ` ${names} is` : `s ${names} are`} set`;
      block(reconcile, 'BeforeClusterUpgrade', message, state.now + annotationRetryMs);
      return stays;
    }
    const fields = { fromKubernetesVersion: current, toKubernetesVersion: target, ...steps };
    if ((yield* ask(reconcile, 'BeforeClusterUpgrade', fields, prefix)) === 'blocked') {
      return stays;
    }
    yield* setPending(state, ['AfterClusterUpgrade']);
  }
  const fields = { fromKubernetesVersion: current, toKubernetesVersion: next, ...steps };
  if ((yield* ask(reconcile, 'BeforeControlPlaneUpgrade', fields, prefix)) === 'blocked') {
    return stays;
  }
  yield* setPending(state, [
    'AfterControlPlaneUpgrade',
    ...(plan.workers[0] === next ? ['BeforeWorkersUpgrade', 'AfterWorkersUpgrade'] : []),
  ]);
  return { version: next, plan };
}
