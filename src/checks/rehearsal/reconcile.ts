import { isSame, objectAt } from '../../kubernetes/index.ts';
import { ReconcileFailed } from '../../topology/index.ts';
import { ask, responseTo } from './ask.ts';
import { conditionOf } from './condition.ts';
import { ReconcileError } from './player.ts';
import { annotationsOf, okToDeleteAnnotation, type State } from './state.ts';
import { type Decisions, decideVersions, isUpgraded } from './versions.ts';

/** How long operations take in a rehearsal, in ms. */
export const durations = { create: 120_000, controlPlane: 180_000, workers: 120_000, delete: 60_000 } as const;

function create(state: State): void {
  state.setPending(['AfterControlPlaneInitialized']);
  const { controlPlane, target: version } = state;
  state.write({ spec: state.made.references(state.cluster) });
  controlPlane.version = version;
  controlPlane.readyAt = state.now + durations.create;
  state.tellControlPlane('creating');
  for (const worker of state.workers) {
    worker.version = version;
    state.tellWorker(worker, 'creating');
  }
}

function addLabels(state: State): void {
  const before = state.cluster.metadata.labels;
  const labels = {
    ...objectAt(before),
    'cluster.x-k8s.io/cluster-name': state.name,
    'topology.cluster.x-k8s.io/owned': '',
  };
  if (!isSame(before, labels)) {
    state.write({ metadata: { labels } });
  }
}

function changeVersions(state: State, { version, workers }: Decisions): void {
  const { controlPlane, reconcile } = state;
  if (controlPlane.version !== version) {
    controlPlane.version = version;
    controlPlane.readyAt = state.now + durations.controlPlane;
    reconcile.isChanged = true;
    state.tellControlPlane('upgrading');
  }
  for (const { worker, version: next } of workers) {
    if (worker.version !== next) {
      const { replicas, isOnDelete } = state.settingsOf(worker);
      const isEmpty = replicas === 0;
      worker.version = next;
      worker.readyAt = isEmpty ? undefined : state.now + durations.workers;
      reconcile.isChanged = true;
      state.tellWorker(worker, isEmpty ? 'ready' : 'upgrading');
      if (isOnDelete && !isEmpty) {
        const text = `workers ${worker.topologyName} have the strategy OnDelete: an upgrade waits until somebody deletes their Machines, which this rehearsal takes for granted`;
        state.findOnce('warning', text, 'delete their Machines during an upgrade');
      }
    }
  }
}

const patching = 'error computing the desired state of the Cluster topology: failed to apply patches: ';
const prefix = 'error reconciling the Cluster topology: ';

/** Calls the hooks that come after all decisions. If one fails, the remaining changes are not written. */
async function callAfterHooks(state: State, decisions: Decisions): Promise<void> {
  if (state.pending.has('AfterControlPlaneInitialized') && state.controlPlane.isInitialized) {
    await responseTo(prefix, state, 'AfterControlPlaneInitialized', {}, { withCluster: true });
    state.setPending([], ['AfterControlPlaneInitialized']);
    state.reconcile.isChanged = true;
  }
  if (!isUpgraded(state, decisions)) {
    return;
  }
  if ((await ask(state, 'AfterClusterUpgrade', { kubernetesVersion: state.target }, prefix)) === 'passed') {
    state.setPending([], ['AfterClusterUpgrade']);
    state.reconcile.isChanged = true;
  }
}

async function reconcileDelete(state: State): Promise<void> {
  const isOk = () => annotationsOf(state.cluster)[okToDeleteAnnotation] !== undefined;
  if (!isOk() && (await ask(state, 'BeforeClusterDelete')) === 'passed') {
    state.annotate(okToDeleteAnnotation, '');
  }
  state.tellCondition(conditionOf(state));
  state.isDeleted = isOk();
}

/** One reconcile by the topology controller. @throws {ReconcileError | ReconcileFailed} when it fails. */
export async function reconcileCluster(state: State): Promise<void> {
  if (state.cluster.metadata.deletionTimestamp !== undefined) {
    await reconcileDelete(state);
    return;
  }
  const isCreated = state.cluster.spec.controlPlaneRef !== undefined;
  if (!isCreated && (await ask(state, 'BeforeClusterCreate')) === 'blocked') {
    state.tellCondition(conditionOf(state));
    return;
  }
  const decisions = await decideVersions(state);
  const upgradeStep = state.pending.has('AfterClusterUpgrade') ? decisions.version : undefined;
  const workers = decisions.workers.map(({ worker: { kind, topologyName }, version, isPending }) => {
    return { kind, topologyName, version, isPending };
  });
  const decided = { controlPlane: decisions.version, workers, upgradeStep };
  const problems = await state.made.desire(state.cluster, decided, ({ hook, handler, request, where }) =>
    responseTo(`${patching}${where}`, state, hook, request, { handler }),
  );
  for (const { text, remedy } of problems) {
    state.findOnce('error', text, remedy);
  }
  await callAfterHooks(state, decisions);
  // Machines are played when nothing is written any more.
  const isOther = state.made.write(state.cluster);
  state.reconcile.isChanged ||= state.playsMachines && isOther;
  if (isCreated) {
    changeVersions(state, decisions);
  } else {
    create(state);
    state.reconcile.isChanged = true;
  }
  addLabels(state);
  const [annotation, step] = state.made.upgradeStep(upgradeStep);
  if (annotationsOf(state.cluster)[annotation] !== step) {
    state.annotate(annotation, step);
    state.reconcile.isChanged = true;
  }
  state.tellCondition(conditionOf(state, decisions));
}

/** The message of the condition after a reconcile that failed, in Cluster API's words. @throws other errors. */
export function failureMessage(state: State, error: unknown): string {
  if (error instanceof ReconcileError) {
    return error.message;
  }
  if (!(error instanceof ReconcileFailed)) {
    throw error;
  }
  if (error.hint !== undefined) {
    state.findOnce(error.isWrite ? 'error' : 'warning', error.hint.text, error.hint.remedy);
  }
  return `${error.isWrite ? prefix : patching}${error.message}`;
}
