import { objectAt, timeText } from '../../../kubernetes/index.ts';
import { backoffMs, editBefore, restartMs } from '../cluster/ask.ts';
import {
  ControllerRestart,
  ReconcileError,
  type Simulation,
  type SimulationEnd,
  SimulationStopped,
} from '../cluster/effects.ts';
import type { State } from '../cluster/state.ts';
import { failedCondition, pausedCondition } from './condition.ts';
import { hasRollouts, updateInPlace } from './in-place.ts';
import { refusalOf } from './plan.ts';
import { durations, reconcileCluster } from './reconcile.ts';

/** The operations on a Cluster. Unless it already exists, it is created first. */
export interface Scenario {
  upgrades: readonly string[];
  isDeleted: boolean;
  /** Whether machines are updated in place if extensions can do that, as with the feature gate InPlaceUpdates. */
  updatesInPlace: boolean;
}

/** Minimum time between two reconciles of an object, in ms. */
const reconcileEvery = 1000;
/** Number of reconciles in a row without any effect, after which a simulation ends. */
const maxIdle = 3;

/** Thrown when only workers are left that a user keeps from being upgraded. */
class UpgradeDeferred extends SimulationStopped {}

/** Events outside the controller: machines become ready. */
function* settle(state: State): Simulation {
  const { controlPlane } = state;
  if (controlPlane.readyAt !== undefined && controlPlane.readyAt <= state.now) {
    controlPlane.readyAt = undefined;
    yield state.tellControlPlane('ready');
    if (!controlPlane.isInitialized) {
      controlPlane.isInitialized = true;
      if (state.cluster.spec.controlPlaneEndpoint === undefined) {
        // Loopback, so that an extension that connects to the Cluster reaches only its own machine.
        state.write({ spec: { controlPlaneEndpoint: { host: '127.0.0.1', port: 6443 } } });
      }
    }
  }
  for (const worker of state.workers) {
    if (worker.readyAt !== undefined && worker.readyAt <= state.now) {
      worker.readyAt = undefined;
      yield worker.tell('ready');
    }
  }
}

/** Reconciles a Cluster until it has reached its goal and nothing changes any more. */
function* reconcileUntil(state: State, isThere: () => boolean): Simulation {
  let idle = 0;
  for (;;) {
    state.beginReconcile();
    const { reconcile } = state;
    const callsBefore = state.calls;
    let nextAt: number | undefined;
    try {
      yield* reconcileCluster(state);
      state.failures = 0;
    } catch (error) {
      if (error instanceof ControllerRestart) {
        state.waits.clear();
        state.plan = undefined;
        nextAt = state.now + restartMs;
      } else if (error instanceof ReconcileError) {
        state.failures++;
        yield* state.tellCondition(failedCondition(error.message));
        if (state.failures >= state.limits.maxFailures) {
          throw new SimulationStopped(
            `${state.failures === 1 ? 'a reconcile' : `${state.failures} reconciles in a row`} failed: ${error.message}`,
          );
        }
        nextAt = state.now + backoffMs(state.failures);
      } else {
        throw error;
      }
    }
    const hasFailed = nextAt !== undefined;
    addFinalizer(state);
    if (state.playsMachines && !reconcile.isChanged && !hasFailed && hasRollouts(state)) {
      yield* updateInPlace(state);
      yield* settle(state);
      continue;
    }
    if (!hasFailed && isThere() && !reconcile.isChanged) {
      return;
    }
    nextAt ??= reconcile.isChanged ? state.now + reconcileEvery : reconcile.requeueAt;
    const events = [state.controlPlane.readyAt, ...state.workers.map(({ readyAt }) => readyAt)].filter(
      (time) => time !== undefined,
    );
    idle = state.calls === callsBefore && !reconcile.isChanged && events.length === 0 && !hasFailed ? idle + 1 : 0;
    const times = nextAt === undefined ? events : [nextAt, ...events];
    if (times.length === 0 || idle > maxIdle) {
      if (yield* editBefore(state, undefined)) {
        idle = 0;
        continue;
      }
      const isDeferred = state.workers.some(({ deferral }) => deferral !== undefined);
      const remedy = isDeferred ? '; remove the annotations from the topology to upgrade these workers, too' : '';
      throw new (isDeferred ? UpgradeDeferred : SimulationStopped)(
        `nothing more will happen on its own: ${state.conditionMessage || 'the Cluster waits'}${remedy}`,
      );
    }
    yield* state.passUntil(Math.max(Math.min(...times), state.now));
    yield* settle(state);
  }
}

const clusterFinalizer = 'cluster.cluster.x-k8s.io';

/** Adds fields that another controller adds at about the time of the first reconcile. */
function addFinalizer(state: State): void {
  const finalizers = (state.cluster.metadata.finalizers ?? []) as string[];
  if (!finalizers.includes(clusterFinalizer) && state.cluster.metadata.deletionTimestamp === undefined) {
    state.write({ metadata: { finalizers: [...finalizers, clusterFinalizer] } });
  }
}

function* upgrade(state: State, to: string): Simulation {
  const refusal = refusalOf(state, to);
  if (refusal !== undefined) {
    throw new SimulationStopped(`Cluster API refuses spec.topology.version ${to}: ${refusal}`);
  }
  yield state.tell({ kind: 'user', text: `sets spec.topology.version to ${to}` });
  state.write({ spec: { topology: { ...objectAt(state.cluster.spec, 'topology'), version: to } } });
  yield* reconcileUntil(
    state,
    () =>
      !state.pending.has('AfterClusterUpgrade') &&
      state.controlPlane.version === to &&
      state.controlPlane.readyAt === undefined &&
      state.workers.every(({ version, readyAt }) => version === to && readyAt === undefined),
  );
}

/**
 * The upgrades, up to one that a user deferred for some workers.
 *
 * @returns why it is not completed; empty if all are. A Cluster can be deleted then all the same.
 */
function* upgradeAll(state: State, upgrades: readonly string[]): Simulation<string> {
  try {
    for (const to of upgrades) {
      yield* upgrade(state, to);
    }
  } catch (error) {
    if (!(error instanceof UpgradeDeferred)) {
      throw error;
    }
    return error.message;
  }
  return '';
}

function* remove(state: State): Simulation {
  yield state.tell({ kind: 'user', text: 'deletes the Cluster' });
  const deletionTimestamp = timeText(new Date(state.start.getTime() + state.now));
  state.write({ metadata: { deletionTimestamp, deletionGracePeriodSeconds: 0 }, spec: {} });
  yield* reconcileUntil(state, () => state.isDeleted);
  yield* state.passUntil(state.now + durations.delete);
  for (const worker of state.workers) {
    yield worker.tell('gone');
  }
  yield state.tellControlPlane('gone');
}

/**
 * The simulation of one Cluster as the topology controller sees it: a generator that requests calls, reports what happens,
 * and advances time. It uses neither a clock nor the network.
 *
 * @returns whether the simulation could be completed, and if not, why.
 */
export function* simulateCluster(state: State, scenario: Scenario): Simulation<SimulationEnd> {
  try {
    state.playsMachines = scenario.updatesInPlace;
    const paused = pausedCondition(state);
    if (paused !== undefined) {
      yield* state.tellCondition(paused);
      throw new SimulationStopped(
        'the Cluster is paused: Cluster API calls no hook for it, not even when it is deleted',
      );
    }
    if (state.controlPlane.version === undefined) {
      yield state.tell({ kind: 'user', text: `creates the Cluster at ${state.target}` });
    }
    yield* reconcileUntil(
      state,
      () =>
        state.controlPlane.isInitialized &&
        state.controlPlane.readyAt === undefined &&
        !state.pending.has('AfterControlPlaneInitialized') &&
        !state.pending.has('AfterClusterUpgrade'),
    );
    const deferral = yield* upgradeAll(state, scenario.upgrades);
    if (scenario.isDeleted) {
      yield* remove(state);
    }
    return { isComplete: deferral === '', reason: deferral, at: state.now };
  } catch (error) {
    if (error instanceof SimulationStopped) {
      return { isComplete: false, reason: error.message, at: state.now };
    }
    throw error;
  }
}
