import { type JsonObject, objectAt, timeText } from '../../kubernetes/index.ts';
import { type CallHook, NotKnown, type SimulatedCluster } from '../../topology/index.ts';
import { backoffMs, call, editBefore, waitMs } from './ask.ts';
import { failedCondition, pausedCondition } from './condition.ts';
import { SimulationStopped } from './player.ts';
import { durations, failureMessage, reconcileCluster } from './reconcile.ts';
import { newReconcile, type State } from './state.ts';

/** The operations on a Cluster, which is created first unless it exists. */
export interface Scenario {
  upgrades: readonly string[];
  isDeleted: boolean;
  /** Whether machines are updated in place if extensions can do that, as with the feature gate InPlaceUpdates. */
  updatesInPlace: boolean;
}

/** Minimum time between two reconciles of an object, in ms. */
const reconcileEvery = 1000;
/** Reconciles in a row without any effect, after which a simulation ends. */
const maxIdle = 3;

function settle(state: State): void {
  const { controlPlane } = state;
  if (controlPlane.readyAt !== undefined && controlPlane.readyAt <= state.now) {
    controlPlane.readyAt = undefined;
    state.tellControlPlane('ready');
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
      state.tellWorker(worker, 'ready');
    }
  }
}

type OutdatedGroup = SimulatedCluster['outdated'][number];
type FollowStep = Parameters<SimulatedCluster['rollOut']>[2]['follow'];

/** How long it takes until a new Machine is available. */
const creationMs = 60_000;

/** Makes a call until it succeeds. @param subject what a call that keeps failing is about, as the beginning of a sentence. */
async function answerTo(
  state: State,
  hook: 'CanUpdateMachine' | 'CanUpdateMachineSet' | 'UpdateMachine',
  request: JsonObject,
  subject = '',
): Promise<{ calls: readonly object[]; response: JsonObject }> {
  for (let failures = 1; ; failures++) {
    const answer = await call(state, hook, request);
    if (answer.ok) {
      return answer;
    }
    if (failures >= state.limits.maxFailures) {
      throw new SimulationStopped(`${subject}${hook} failed ${failures} times in a row: ${answer.error}`);
    }
    await state.passUntil(state.now + backoffMs(failures));
  }
}

/** Calls UpdateMachine until it is done: once a machine is marked, the update must be finished. */
async function updateMachine(state: State, name: string, desired: JsonObject): Promise<void> {
  for (;;) {
    const { response } = await answerTo(state, 'UpdateMachine', { desired }, `Machine ${name} is not updated, `);
    const { retryAfterSeconds: seconds } = response;
    if (typeof seconds !== 'number' || seconds <= 0) {
      return;
    }
    await state.passUntil(state.now + waitMs(seconds));
  }
}

/** Plays the rollout of a group. Of a control plane, only updates in place are shown. */
async function play(state: State, group: OutdatedGroup): Promise<void> {
  const isControlPlane = group.topologyName === undefined;
  let asked = 0;
  const ask: CallHook = async ({ hook, request }) => {
    asked++;
    const { calls, response } = await answerTo(state, hook as 'CanUpdateMachine', request);
    return calls.length === 0 ? { is: 'none' } : { is: 'answered', response, handler: '' };
  };
  const follow: FollowStep = async (step) => {
    const { is, name } = step;
    if (is === 'updated') {
      await updateMachine(state, name, step.desired);
    } else if (!isControlPlane) {
      if (is === 'made') {
        await state.passUntil(state.now + creationMs);
      }
      state.tell({ kind: 'machine', text: `Machine ${name} is ${is === 'made' ? 'created' : 'gone'}` });
    }
  };
  const now = new Date(state.start.getTime() + state.now);
  const plan = await state.made.rollOut(group, state.cluster, { now, call: ask, follow });
  const [problem] = plan?.problems ?? [];
  if (plan?.verdict === 'refused' && problem !== undefined) {
    throw new SimulationStopped(`a patch of an in-place update cannot be applied: ${problem.text}`);
  }
  if (isControlPlane && plan !== undefined && plan.machines.replaced > 0 && asked === 0) {
    const text = 'the only machine of the control plane is replaced by a new one, and CanUpdateMachine is not called';
    state.findOnce('warning', text, 'rehearse more machines, or set maxSurge to 0');
  }
}

const outdatedGroups = ({ playsMachines, controlPlane, made }: State): OutdatedGroup[] =>
  playsMachines
    ? made.outdated.filter(({ topologyName }) => topologyName !== undefined || controlPlane.isInitialized)
    : [];

/** Rolls out groups as the controllers of machines do if the feature gate InPlaceUpdates is enabled. */
async function rollOut(state: State, groups: readonly OutdatedGroup[]): Promise<void> {
  for (const group of groups) {
    await play(state, group);
    const worker = state.workers.find(
      ({ kind, topologyName }) => kind === group.kind && topologyName === group.topologyName,
    );
    if (worker?.readyAt !== undefined) {
      worker.readyAt = state.now;
    }
  }
}

/** Reconciles a Cluster until it has reached its goal and nothing changes any more. */
async function reconcileUntil(state: State, isThere: () => boolean): Promise<void> {
  let idle = 0;
  for (;;) {
    const reconcile = newReconcile();
    state.reconcile = reconcile;
    const callsBefore = state.calls;
    let nextAt: number | undefined;
    try {
      await reconcileCluster(state);
      state.failures = 0;
    } catch (error) {
      const message = failureMessage(state, error);
      state.failures++;
      state.tellCondition(failedCondition(message));
      if (state.failures >= state.limits.maxFailures) {
        throw new SimulationStopped(
          `${state.failures === 1 ? 'a reconcile' : `${state.failures} reconciles in a row`} failed: ${message}`,
        );
      }
      nextAt = state.now + backoffMs(state.failures);
    }
    const hasFailed = nextAt !== undefined;
    addFinalizer(state);
    const outdated = reconcile.isChanged || hasFailed ? [] : outdatedGroups(state);
    if (outdated.length > 0) {
      await rollOut(state, outdated);
      settle(state);
      continue;
    }
    if (!hasFailed && isThere() && !reconcile.isChanged) {
      return;
    }
    nextAt ??= reconcile.isChanged ? state.now + reconcileEvery : reconcile.requeueAt;
    const events = [state.controlPlane, ...state.workers].flatMap(({ readyAt }) => readyAt ?? []);
    idle = state.calls === callsBefore && !reconcile.isChanged && events.length === 0 && !hasFailed ? idle + 1 : 0;
    const times = nextAt === undefined ? events : [nextAt, ...events];
    if (times.length === 0 || idle > maxIdle) {
      if (editBefore(state, undefined)) {
        idle = 0;
        continue;
      }
      const isDeferred = state.settings.some((worker) => worker.isDeferred);
      const remedy = isDeferred ? '; remove the annotations from the topology to upgrade these workers, too' : '';
      throw new SimulationStopped(
        `nothing more will happen on its own: ${state.conditionMessage || 'the Cluster waits'}${remedy}`,
      );
    }
    await state.passUntil(Math.max(Math.min(...times), state.now));
    settle(state);
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

async function upgrade(state: State, to: string): Promise<void> {
  const refusal = state.made.versionRefusal(state.cluster, to);
  if (refusal !== undefined) {
    throw new SimulationStopped(`Cluster API refuses spec.topology.version ${to}: ${refusal}`);
  }
  state.tell({ kind: 'user', text: `the user sets spec.topology.version to ${to}` });
  state.write({ spec: { topology: { ...objectAt(state.cluster.spec, 'topology'), version: to } } });
  await reconcileUntil(
    state,
    () =>
      !state.pending.has('AfterClusterUpgrade') &&
      state.controlPlane.version === to &&
      state.controlPlane.readyAt === undefined &&
      state.workers.every(({ version, readyAt }) => version === to && readyAt === undefined),
  );
}

async function remove(state: State): Promise<void> {
  state.tell({ kind: 'user', text: 'the user deletes the Cluster' });
  const deletionTimestamp = timeText(new Date(state.start.getTime() + state.now));
  state.write({ metadata: { deletionTimestamp, deletionGracePeriodSeconds: 0 }, spec: {} });
  await reconcileUntil(state, () => state.isDeleted);
  await state.passUntil(state.now + durations.delete);
  for (const worker of state.workers) {
    state.tellWorker(worker, 'gone');
  }
  state.tellControlPlane('gone');
}

/** Why a simulation cannot be completed, and the remedy for what is not known. */
export const reasonOf = (error: SimulationStopped | NotKnown): string =>
  error instanceof NotKnown && error.remedy !== undefined ? `${error.message}; ${error.remedy}` : error.message;

/** Plays the life of a Cluster, and records how it ends. Only its calls take real time. @returns whether it could be completed. */
export async function playLife(state: State, scenario: Scenario): Promise<boolean> {
  try {
    state.playsMachines = scenario.updatesInPlace && state.made.hasClass;
    if (scenario.updatesInPlace && !state.playsMachines) {
      const text = 'no Machine is updated in place, since the templates of Machines are not known';
      state.find('warning', text, 'pass the ClusterClass and its templates with --cluster-files');
    }
    const paused = pausedCondition(state);
    if (paused !== undefined) {
      state.tellCondition(paused);
      throw new SimulationStopped(
        'the Cluster is paused: Cluster API calls no hook for it, not even when it is deleted',
      );
    }
    if (state.controlPlane.version === undefined) {
      state.tell({ kind: 'user', text: `the user creates the Cluster at ${state.target}` });
    }
    await reconcileUntil(
      state,
      () =>
        state.controlPlane.isInitialized &&
        state.controlPlane.readyAt === undefined &&
        !state.pending.has('AfterControlPlaneInitialized') &&
        !state.pending.has('AfterClusterUpgrade'),
    );
    for (const to of scenario.upgrades) {
      await upgrade(state, to);
    }
    if (scenario.isDeleted) {
      await remove(state);
    }
    state.end(!state.hasErrors, state.hasErrors ? 'the lifecycle completed, but with errors' : '');
    return !state.hasErrors;
  } catch (error) {
    if (!(error instanceof SimulationStopped || error instanceof NotKnown)) {
      throw error;
    }
    state.end(false, reasonOf(error));
    return false;
  }
}
