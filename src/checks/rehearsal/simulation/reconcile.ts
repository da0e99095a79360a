import { fieldAt, isSame, objectAt, textAt } from '../../../kubernetes/index.ts';
import { ask, call, failed, type Reconcile } from '../cluster/ask.ts';
import type { Simulation } from '../cluster/effects.ts';
import { upgradeStepText } from '../cluster/releases.ts';
import {
  annotate,
  findOnce,
  isPending,
  nameOf,
  okToDeleteAnnotation,
  replicasOf,
  type State,
  setPending,
  targetOf,
  tell,
  upgradeStepAnnotation,
  type WorkerGroup,
  workerEvent,
  wrote,
} from '../cluster/state.ts';
import { applyRound } from '../topology/round.ts';
import { conditionOf, tellCondition } from './condition.ts';
import { beginRollout, waitsForDeletion } from './machines.ts';
import { type Decisions, decideVersions, isUpgraded } from './upgrade.ts';

/** How long operations take in a rehearsal, in ms. */
export const durations = { create: 120_000, controlPlane: 180_000, workers: 120_000, delete: 60_000 } as const;

const isCreated = ({ cluster }: State): boolean => fieldAt(cluster, 'spec', 'controlPlaneRef') !== undefined;

function* create({ state }: Reconcile): Simulation {
  yield* setPending(state, ['AfterControlPlaneInitialized']);
  const { cluster, controlPlane, subject } = state;
  const { infrastructure, controlPlane: controlPlaneKind } = subject.kinds;
  cluster.spec = {
    ...cluster.spec,
    infrastructureRef: {
      ...infrastructure,
      name: nameOf(state, subject.blueprint?.infrastructureNaming ?? '', 'InfrastructureCluster'),
    },
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
    if (plays(state, worker)) {
      beginRollout(state, worker, version);
    }
  }
}

/** Adds the labels by which Cluster API finds a Cluster. */
function addLabels(state: State): void {
  const { metadata } = state.cluster;
  const labels = {
    ...objectAt(metadata, 'labels'),
    'cluster.x-k8s.io/cluster-name': textAt(metadata, 'name'),
    'topology.cluster.x-k8s.io/owned': '',
  };
  if (!isSame(metadata.labels, labels)) {
    state.cluster.metadata = { ...metadata, labels };
    wrote(state, 'metadata');
  }
}

/** Writes the versions that were decided on. */
function* changeVersions(reconcile: Reconcile, { version, workers, workerVersions }: Decisions): Simulation {
  const { state } = reconcile;
  const { controlPlane } = state;
  if (controlPlane.version !== version) {
    controlPlane.previous = controlPlane.version;
    controlPlane.version = version;
    controlPlane.readyAt = state.now + durations.controlPlane;
    reconcile.isChanged = true;
    yield tell(state, { kind: 'control-plane', state: 'upgrading', version, name: controlPlane.name });
  }
  for (const worker of state.workers) {
    const next = workerVersions.get(worker.name) ?? version;
    if (worker.version !== next) {
      const isEmpty = replicasOf(state, worker) === 0;
      worker.version = next;
      worker.readyAt = isEmpty ? undefined : state.now + durations.workers;
      reconcile.isChanged = true;
      yield workerEvent(state, worker, isEmpty ? 'ready' : 'upgrading');
      if (waitsForDeletion(state, worker) && !isEmpty) {
        const text = `workers ${worker.topologyName} have the strategy OnDelete: an upgrade waits until somebody deletes their Machines, which this rehearsal takes for granted`;
        yield* findOnce(state, 'warning', text, 'delete their Machines during an upgrade');
      }
    }
    if (!workers[worker.kind].pending.has(worker.name) && plays(state, worker) && beginRollout(state, worker, next)) {
      reconcile.isChanged = true;
    }
  }
}

/** Whether the Machines of a group are played. */
const plays = (state: State, worker: WorkerGroup): boolean =>
  state.playsMachines && worker.kind === 'MachineDeployment' && replicasOf(state, worker) > 0;

/** Calls the hooks that come after all decisions. If one fails, the remaining changes are not written. */
function* callAfterHooks(reconcile: Reconcile, decisions: Decisions): Simulation {
  const { state } = reconcile;
  const prefix = 'error reconciling the Cluster topology: ';
  if (isPending(state, 'AfterControlPlaneInitialized') && state.controlPlane.isInitialized) {
    const answer = yield* call(reconcile, 'AfterControlPlaneInitialized', (cluster) => ({ cluster }));
    if (!answer.ok) {
      throw failed(answer.error, prefix);
    }
    yield* setPending(state, [], ['AfterControlPlaneInitialized']);
    reconcile.isChanged = true;
  }
  if (!isUpgraded(state, decisions)) {
    return;
  }
  const fields = { kubernetesVersion: targetOf(state) };
  if ((yield* ask(reconcile, 'AfterClusterUpgrade', fields, prefix)) === 'passed') {
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
  yield* tellCondition(state, conditionOf(reconcile, undefined));
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
    yield* tellCondition(state, conditionOf(reconcile, undefined));
    return;
  }
  const decisions = yield* decideVersions(reconcile);
  const upgradeStep = isPending(state, 'AfterClusterUpgrade') ? decisions.version : undefined;
  yield* applyRound(reconcile, { ...decisions, upgradeStep });
  yield* callAfterHooks(reconcile, decisions);
  if (isCreated(state)) {
    yield* changeVersions(reconcile, decisions);
  } else {
    yield* create(reconcile);
    reconcile.isChanged = true;
  }
  addLabels(state);
  const step = upgradeStepText(state.release, upgradeStep);
  if (fieldAt(state.cluster, 'metadata', 'annotations', upgradeStepAnnotation) !== step) {
    annotate(state, upgradeStepAnnotation, step);
    reconcile.isChanged = true;
  }
  yield* tellCondition(state, conditionOf(reconcile, decisions));
}
