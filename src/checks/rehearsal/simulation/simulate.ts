import { objectAt, timeText } from '../../../kubernetes/index.ts';
import { type ClusterApiLimits, editBefore, type Reconcile } from '../cluster/ask.ts';
import {
  ControllerRestart,
  ReconcileError,
  type Simulation,
  type SimulationEnd,
  SimulationStopped,
} from '../cluster/effects.ts';
import {
  conditionMessage,
  deferralOf,
  isPending,
  type State,
  targetOf,
  tell,
  workerEvent,
  wrote,
} from '../cluster/state.ts';
import { backoffMs, passUntil, restartMs } from '../cluster/time.ts';
import { failedCondition, pausedCondition, tellCondition } from './condition.ts';
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
    yield tell(state, {
      kind: 'control-plane',
      state: 'ready',
      version: controlPlane.version ?? '',
      name: controlPlane.name,
    });
    if (!controlPlane.isInitialized) {
      controlPlane.isInitialized = true;
      if (state.cluster.spec.controlPlaneEndpoint === undefined) {
        // Loopback, so that an extension that connects to the Cluster reaches only its own machine.
        state.cluster.spec = { ...state.cluster.spec, controlPlaneEndpoint: { host: '127.0.0.1', port: 6443 } };
        wrote(state, 'spec');
      }
    }
  }
  for (const worker of state.workers) {
    if (worker.readyAt !== undefined && worker.readyAt <= state.now) {
      worker.readyAt = undefined;
      yield workerEvent(state, worker, 'ready');
    }
  }
}

/** Reconciles a Cluster until it has reached its goal and nothing changes any more. */
function* reconcileUntil(state: State, limits: ClusterApiLimits, isThere: () => boolean): Simulation {
  let idle = 0;
  for (;;) {
    const reconcile: Reconcile = {
      state,
      limits,
      blocking: new Map(),
      isNegative: false,
      requeueAt: undefined,
      isChanged: false,
    };
    const callsBefore = state.calls;
    let nextAt: number | undefined;
    try {
      yield* reconcileCluster(reconcile);
      state.failures = 0;
    } catch (error) {
      if (error instanceof ControllerRestart) {
        state.waits.clear();
        state.plan = undefined;
        nextAt = state.now + restartMs;
      } else if (error instanceof ReconcileError) {
        state.failures++;
        yield* tellCondition(state, failedCondition(error.message));
        if (state.failures >= limits.maxFailures) {
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
      yield* updateInPlace(reconcile);
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
      const isDeferred = state.workers.some((worker) => deferralOf(state, worker) !== undefined);
      const remedy = isDeferred ? '; remove the annotations from the topology to upgrade these workers, too' : '';
      throw new (isDeferred ? UpgradeDeferred : SimulationStopped)(
        `nothing more will happen on its own: ${conditionMessage(state) || 'the Cluster waits'}${remedy}`,
      );
    }
    yield* passUntil(state, Math.max(Math.min(...times), state.now));
    yield* settle(state);
  }
}

const clusterFinalizer = 'cluster.cluster.x-k8s.io';

/** Adds fields that another controller adds at about the time of the first reconcile. */
function addFinalizer(state: State): void {
  const finalizers = (state.cluster.metadata.finalizers ?? []) as string[];
  if (!finalizers.includes(clusterFinalizer) && state.cluster.metadata.deletionTimestamp === undefined) {
    state.cluster.metadata = { ...state.cluster.metadata, finalizers: [...finalizers, clusterFinalizer] };
    wrote(state, 'metadata');
  }
}

function* upgrade(state: State, limits: ClusterApiLimits, to: string): Simulation {
  const refusal = refusalOf(state, to);
  if (refusal !== undefined) {
    throw new SimulationStopped(`Cluster API refuses spec.topology.version ${to}: ${refusal}`);
  }
  yield tell(state, { kind: 'user', text: `sets spec.topology.version to ${to}`, flag: `→ ${to}` });
  state.cluster.spec = {
    ...state.cluster.spec,
    topology: { ...objectAt(state.cluster.spec, 'topology'), version: to },
  };
  wrote(state, 'spec');
  yield* reconcileUntil(
    state,
    limits,
    () =>
      !isPending(state, 'AfterClusterUpgrade') &&
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
function* upgradeAll(state: State, limits: ClusterApiLimits, scenario: Scenario): Simulation<string> {
  try {
    for (const to of scenario.upgrades) {
      yield* upgrade(state, limits, to);
    }
  } catch (error) {
    if (!(error instanceof UpgradeDeferred)) {
      throw error;
    }
    return error.message;
  }
  return '';
}

function* remove(state: State, limits: ClusterApiLimits): Simulation {
  yield tell(state, { kind: 'user', text: 'deletes the Cluster', flag: 'delete' });
  state.cluster.metadata = {
    ...state.cluster.metadata,
    deletionTimestamp: timeText(new Date(state.start.getTime() + state.now)),
    deletionGracePeriodSeconds: 0,
  };
  wrote(state, 'spec');
  yield* reconcileUntil(state, limits, () => state.isDeleted);
  yield* passUntil(state, state.now + durations.delete);
  for (const worker of state.workers) {
    yield workerEvent(state, worker, 'gone');
  }
  const { name, version = '' } = state.controlPlane;
  yield tell(state, { kind: 'control-plane', state: 'gone', version, name });
}

/**
 * The simulation of one Cluster as the topology controller sees it: a generator that requests calls, reports what happens,
 * and advances time. It uses neither a clock nor the network.
 *
 * @returns whether the simulation could be completed, and if not, why.
 */
export function* simulateCluster(
  state: State,
  scenario: Scenario,
  limits: ClusterApiLimits,
): Simulation<SimulationEnd> {
  try {
    state.playsMachines = scenario.updatesInPlace;
    const paused = pausedCondition(state);
    if (paused !== undefined) {
      yield* tellCondition(state, paused);
      throw new SimulationStopped(
        'the Cluster is paused: Cluster API calls no hook for it, not even when it is deleted',
      );
    }
    if (state.controlPlane.version === undefined) {
      yield tell(state, { kind: 'user', text: `creates the Cluster at ${targetOf(state)}`, flag: 'create' });
    }
    yield* reconcileUntil(
      state,
      limits,
      () =>
        state.controlPlane.isInitialized &&
        state.controlPlane.readyAt === undefined &&
        !isPending(state, 'AfterControlPlaneInitialized') &&
        !isPending(state, 'AfterClusterUpgrade'),
    );
    const deferral = yield* upgradeAll(state, limits, scenario);
    if (scenario.isDeleted) {
      yield* remove(state, limits);
    }
    return { isComplete: deferral === '', reason: deferral, at: state.now };
  } catch (error) {
    if (error instanceof SimulationStopped) {
      return { isComplete: false, reason: error.message, at: state.now };
    }
    throw error;
  }
}
