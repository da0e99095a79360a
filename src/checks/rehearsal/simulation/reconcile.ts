import { fieldAt, textAt } from '../../../kubernetes/index.ts';
import { ask, call, failed, type Reconcile } from '../cluster/ask.ts';
import type { Simulation } from '../cluster/effects.ts';
import {
  annotate,
  isControlPlaneStable,
  isPending,
  okToDeleteAnnotation,
  replicasOf,
  type State,
  setPending,
  targetOf,
  tell,
  upgradeConcurrency,
  upgradeStepAnnotation,
  type WorkerGroup,
  workerEvent,
  wrote,
} from '../cluster/state.ts';
import { applyRound } from '../topology/round.ts';
import { conditionOf, tellCondition } from './condition.ts';
import type { Plan } from './plan.ts';
import { decideVersions } from './upgrade.ts';

/** How long operations take in a rehearsal, in ms. */
export const durations = { create: 120_000, controlPlane: 180_000, workers: 120_000, delete: 60_000 } as const;

const isCreated = ({ cluster }: State): boolean => fieldAt(cluster, 'spec', 'controlPlaneRef') !== undefined;

function* create({ state }: Reconcile): Simulation {
  yield* setPending(state, ['AfterControlPlaneInitialized']);
  const { cluster, controlPlane, names, subject } = state;
  const name = textAt(cluster, 'metadata', 'name');
  const { infrastructure, controlPlane: controlPlaneKind } = subject.kinds;
  cluster.metadata = {
    ...cluster.metadata,
    labels: {
      ...(cluster.metadata.labels as object),
      'cluster.x-k8s.io/cluster-name': name,
      'topology.cluster.x-k8s.io/owned': '',
    },
  };
  cluster.spec = {
    ...cluster.spec,
    infrastructureRef: { ...infrastructure, name: names.generated(name, 'InfrastructureCluster') },
    controlPlaneRef: { ...controlPlaneKind, name: controlPlane.name },
  };
  wrote(state, 'spec');
  const version = targetOf(state);
  controlPlane.version = version;
  controlPlane.readyAt = state.now + durations.create;
  yield tell(state, { kind: 'control-plane', state: 'creating', version, name: controlPlane.name });
  for (const worker of state.workers) {
    worker.version = version;
    yield workerEvent(state, worker, 'creating');
  }
}

/**
 * Worker groups that may start their upgrade now: MachineDeployments in the order of the topology, then MachinePools.
 */
function workersToStart(state: State, version: string): WorkerGroup[] {
  const starting: WorkerGroup[] = [];
  for (const kind of ['MachineDeployment', 'MachinePool'] as const) {
    const ofKind = state.workers.filter((worker) => worker.kind === kind);
    let running = ofKind.filter(({ readyAt }) => readyAt !== undefined).length;
    for (const worker of ofKind) {
      if (worker.held === 'hold') {
        break;
      }
      const isWaiting = worker.version !== undefined && worker.version !== version && worker.readyAt === undefined;
      if (isWaiting && worker.held === undefined && running < upgradeConcurrency(state)) {
        starting.push(worker);
        running += replicasOf(state, worker) === 0 ? 0 : 1;
      }
    }
    if (ofKind.some((worker) => worker.version !== version || worker.readyAt !== undefined)) {
      break;
    }
  }
  return starting;
}

function* changeVersions(reconcile: Reconcile, version: string, { workers: [step] }: Plan): Simulation {
  const { state } = reconcile;
  const { controlPlane } = state;
  if (controlPlane.version !== version) {
    state.previous.set(controlPlane.name, controlPlane.version ?? version);
    controlPlane.version = version;
    controlPlane.readyAt = state.now + durations.controlPlane;
    reconcile.isChanged = true;
    yield tell(state, { kind: 'control-plane', state: 'upgrading', version, name: controlPlane.name });
    return;
  }
  const mayStart = isControlPlaneStable(state) && step === version;
  if (!mayStart || isPending(state, 'AfterControlPlaneUpgrade') || isPending(state, 'BeforeWorkersUpgrade')) {
    return;
  }
  for (const worker of workersToStart(state, version)) {
    const isEmpty = replicasOf(state, worker) === 0;
    state.previous.set(worker.name, worker.version ?? version);
    worker.version = version;
    worker.readyAt = isEmpty ? undefined : state.now + durations.workers;
    reconcile.isChanged = true;
    yield workerEvent(state, worker, isEmpty ? 'ready' : 'upgrading');
  }
}

/** Calls the hooks that come after all decisions. If one fails, the remaining changes are not written. */
function* callAfterHooks(reconcile: Reconcile): Simulation {
  const { state } = reconcile;
  if (isPending(state, 'AfterControlPlaneInitialized') && state.controlPlane.isInitialized) {
    const answer = yield* call(reconcile, 'AfterControlPlaneInitialized', (cluster) => ({ cluster }));
    if (!answer.ok) {
      throw failed(answer.error);
    }
    yield* setPending(state, [], ['AfterControlPlaneInitialized']);
    reconcile.isChanged = true;
  }
  const target = targetOf(state);
  const isDone =
    isPending(state, 'AfterClusterUpgrade') &&
    !['AfterControlPlaneUpgrade', 'BeforeWorkersUpgrade', 'AfterWorkersUpgrade'].some((hook) =>
      isPending(state, hook),
    ) &&
    state.controlPlane.version === target &&
    isControlPlaneStable(state) &&
    state.workers.every(({ version, readyAt }) => version === target && readyAt === undefined);
  if (isDone && (yield* ask(reconcile, 'AfterClusterUpgrade', { kubernetesVersion: target })) === 'passed') {
    yield* setPending(state, [], ['AfterClusterUpgrade']);
    reconcile.isChanged = true;
  }
}

function* reconcileDelete(reconcile: Reconcile): Simulation {
  const { state } = reconcile;
  const isOk = () => fieldAt(state.cluster, 'metadata', 'annotations', okToDeleteAnnotation) !== undefined;
  if (!isOk() && (yield* ask(reconcile, 'BeforeClusterDelete')) === 'passed') {
    annotate(state, okToDeleteAnnotation, '');
  }
  yield* tellCondition(state, conditionOf(reconcile, { controlPlane: [], workers: [] }));
  if (isOk()) {
    state.isDeleted = true;
  }
}

/**
 * One reconcile of a Cluster by the topology controller.
 *
 * @throws {ReconcileError} when it fails.
 */
export function* reconcileCluster(reconcile: Reconcile): Simulation {
  const { state } = reconcile;
  if (state.cluster.metadata.deletionTimestamp !== undefined) {
    yield* reconcileDelete(reconcile);
    return;
  }
  if (!isCreated(state) && (yield* ask(reconcile, 'BeforeClusterCreate')) === 'blocked') {
    yield* tellCondition(state, conditionOf(reconcile, { controlPlane: [], workers: [] }));
    return;
  }
  const { version, plan } = yield* decideVersions(reconcile);
  const upgradeStep = isPending(state, 'AfterClusterUpgrade') ? version : '';
  yield* applyRound(reconcile, { version, upgradeStep });
  yield* callAfterHooks(reconcile);
  if (!isCreated(state)) {
    yield* create(reconcile);
    reconcile.isChanged = true;
  } else {
    yield* changeVersions(reconcile, version, plan);
  }
  const step = isPending(state, 'AfterClusterUpgrade') ? version : '';
  if (fieldAt(state.cluster, 'metadata', 'annotations', upgradeStepAnnotation) !== step) {
    annotate(state, upgradeStepAnnotation, step);
    reconcile.isChanged = true;
  }
  yield* tellCondition(state, conditionOf(reconcile, plan));
}
