import type { JsonObject } from '../../../kubernetes/index.ts';
import type { PlannedVersions } from '../../../runtimehooks/index.ts';
import { ask, block } from '../cluster/ask.ts';
import type { Simulation } from '../cluster/effects.ts';
import { annotationsOf, type State, type WorkerGroup, type WorkerKind, workerKinds } from '../cluster/state.ts';
import { desiredState, lowestWorkerVersion, stepsInRequest, upgradePlan } from './plan.ts';

const prefix = `${desiredState}failed to compute ControlPlane: failed to compute version of ControlPlane: `;

/** Prefix of the annotations with which a user blocks an upgrade, as BeforeClusterUpgrade does. */
const blockingAnnotation = 'before-upgrade.hook.cluster.cluster.x-k8s.io';
/** How soon Cluster API checks these annotations again, in ms. */
const annotationRetryMs = 20 * 60_000;

/** Where the control plane is in an upgrade, as in exp/topology/scope/upgradetracker.go. */
type ControlPlanePhase =
  | 'provisioning'
  | 'upgrading'
  /** It gets the next version in this reconcile. */
  | 'starting'
  | 'pending'
  /** It gets no version before the workers have the current one. */
  | 'waiting-for-workers'
  | 'stable';

/** What one reconcile decides about a group of workers. */
interface WorkerDecision {
  worker: WorkerGroup;
  /** The version that it should have. */
  version: string;
  isUpgrading: boolean;
  isPending: boolean;
  isDeferred: boolean;
}

/** What one reconcile decides about versions. */
export interface Decisions {
  plan: PlannedVersions;
  /** The version that the control plane should have. */
  version: string;
  phase: ControlPlanePhase;
  workers: readonly WorkerDecision[];
}

/**
 * Decides about the control plane: which hooks are called, and which version it gets. Each reconcile goes through the
 * steps from the beginning, up to the first one that waits (computeControlPlaneVersion in exp/topology/desiredstate).
 */
function* decideControlPlane(
  state: State,
  current: string,
  plan: PlannedVersions,
): Simulation<{ version: string; phase: ControlPlanePhase }> {
  const { controlPlane, workers, target } = state;
  const steps = stepsInRequest(plan);
  const stays = (phase: ControlPlanePhase = current === target ? 'stable' : 'pending') => ({ version: current, phase });
  if (controlPlane.readyAt !== undefined) {
    return stays(controlPlane.isInitialized ? 'upgrading' : 'provisioning');
  }
  const blocks = function* (hook: Parameters<typeof ask>[1], fields: JsonObject): Simulation<boolean> {
    if (!state.pending.has(hook)) {
      return false;
    }
    if ((yield* ask(state, hook, { ...fields, ...steps }, prefix)) === 'blocked') {
      return true;
    }
    yield* state.setPending([], [hook]);
    state.reconcile.isChanged = true;
    return false;
  };
  if (yield* blocks('AfterControlPlaneUpgrade', { kubernetesVersion: current })) {
    return stays();
  }
  const fromWorkers = lowestWorkerVersion(state) ?? '';
  if (yield* blocks('BeforeWorkersUpgrade', { fromKubernetesVersion: fromWorkers, toKubernetesVersion: current })) {
    return stays();
  }
  if (plan.workers[0] === current) {
    return stays(current === target ? 'stable' : 'waiting-for-workers');
  }
  if (workers.some(({ readyAt }) => readyAt !== undefined)) {
    return stays();
  }
  if (yield* blocks('AfterWorkersUpgrade', { kubernetesVersion: current })) {
    return stays();
  }
  const [next] = plan.controlPlane;
  if (current === target || next === undefined) {
    return stays();
  }
  if (!state.pending.has('AfterClusterUpgrade')) {
    const keys = Object.keys(annotationsOf(state.cluster)).filter((key) => key.startsWith(blockingAnnotation));
    if (keys.length > 0) {
      const names = keys.sort().join(', ');
      const message = `annotation${keys.length === 1 ? ` ${names} is` : `s ${names} are`} set`;
      block(state, 'BeforeClusterUpgrade', message, state.now + annotationRetryMs);
      return stays();
    }
    const fields = { fromKubernetesVersion: current, toKubernetesVersion: target, ...steps };
    if ((yield* ask(state, 'BeforeClusterUpgrade', fields, prefix)) === 'blocked') {
      return stays();
    }
    yield* state.setPending(['AfterClusterUpgrade']);
  }
  const fields = { fromKubernetesVersion: current, toKubernetesVersion: next, ...steps };
  if ((yield* ask(state, 'BeforeControlPlaneUpgrade', fields, prefix)) === 'blocked') {
    return stays();
  }
  yield* state.setPending([
    'AfterControlPlaneUpgrade',
    ...(plan.workers[0] === next ? ['BeforeWorkersUpgrade', 'AfterWorkersUpgrade'] : []),
  ]);
  return { version: next, phase: 'starting' };
}

/** Decides which groups of one kind start their upgrade (computeMachineDeploymentVersion in exp/topology/desiredstate). */
function decideWorkers(
  state: State,
  kind: WorkerKind,
  { version: otherwise, phase }: { version: string; phase: ControlPlanePhase },
  [step]: readonly string[],
): WorkerDecision[] {
  const { blocking } = state.reconcile;
  const groups = state.workers.filter((worker) => worker.kind === kind);
  const isHookBlocking = blocking.has('AfterControlPlaneUpgrade') || blocking.has('BeforeWorkersUpgrade');
  const mayStart = !isHookBlocking && (phase === 'stable' || phase === 'waiting-for-workers');
  let upgrading = groups.filter(({ readyAt }) => readyAt !== undefined).length;
  let isHeld = false;
  return groups.map((worker) => {
    const { version, deferral, readyAt } = worker;
    isHeld ||= deferral === 'hold';
    const isUpgrading = readyAt !== undefined;
    if (version === undefined || version === state.target) {
      return { worker, version: version ?? otherwise, isUpgrading, isPending: false, isDeferred: false };
    }
    const isDeferred = isHeld || deferral === 'defer';
    const isFree = mayStart && !isDeferred && upgrading < state.upgradeConcurrency;
    if (!isFree || step === undefined || step === version) {
      return { worker, version, isUpgrading, isPending: true, isDeferred };
    }
    upgrading += isUpgrading ? 0 : 1;
    return { worker, version: step, isUpgrading: true, isPending: false, isDeferred };
  });
}

/**
 * Decides about versions in one reconcile.
 *
 * @throws {ReconcileError} when a hook or the plan fails.
 */
export function* decideVersions(state: State): Simulation<Decisions> {
  const { version: current } = state.controlPlane;
  const none: PlannedVersions = { controlPlane: [], workers: [] };
  const isCreated = current !== undefined;
  const plan = isCreated ? yield* upgradePlan(state) : none;
  const controlPlane = isCreated
    ? yield* decideControlPlane(state, current, plan)
    : { version: state.target, phase: 'stable' as const };
  const workers = workerKinds.flatMap((kind) => decideWorkers(state, kind, controlPlane, plan.workers));
  return { plan, ...controlPlane, workers };
}

/** Whether nothing of a Cluster waits for its version, so that its upgrade is done. */
export function isUpgraded(state: State, { phase, workers }: Decisions): boolean {
  return (
    phase === 'stable' &&
    state.pending.has('AfterClusterUpgrade') &&
    !state.pending.has('AfterControlPlaneUpgrade') &&
    !state.pending.has('AfterWorkersUpgrade') &&
    !workers.some(({ isUpgrading, isPending }) => isUpgrading || isPending)
  );
}
