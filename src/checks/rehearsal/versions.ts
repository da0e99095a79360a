import type { JsonObject } from '../../kubernetes/index.ts';
import type { PlannedVersions } from '../../runtimehooks/index.ts';
import { ask, block, responseTo } from './ask.ts';
import { ReconcileError } from './player.ts';
import { annotationsOf, type State, type WorkerGroup, type WorkerSettings } from './state.ts';

/** In the order of Cluster API. */
export const workerKinds = ['MachineDeployment', 'MachinePool'] as const satisfies WorkerSettings['kind'][];

/** The beginning of Cluster API's errors about the desired state of a Cluster. */
const desiredState = 'error computing the desired state of the Cluster topology: ';

/** How long Cluster API caches the plan of an extension, in ms. */
const planCacheMs = 10 * 60_000;

/** The answer about the steps of an upgrade is cached before it is validated, so an invalid one stays; a failure is not cached. */
async function answerAboutSteps(state: State, handler: string, versions: JsonObject): Promise<JsonObject> {
  const key = JSON.stringify(versions);
  if (state.plan?.key !== key || state.plan.until <= state.now) {
    const prefix = `${desiredState}failed to get upgrade plan from extension: `;
    const options = { handler, withCluster: true };
    const response = await responseTo(prefix, state, 'GenerateUpgradePlan', versions, options);
    state.plan = { key, until: state.now + planCacheMs, response };
  }
  return state.plan.response;
}

const versionsOf = ({ workers }: State): string[] =>
  workers.flatMap(({ version }) => (version === undefined ? [] : [version]));

/** The steps to the version in the topology. @throws {ReconcileError} when the extension fails, or its plan is invalid. */
async function upgradePlan(state: State, current: string): Promise<PlannedVersions> {
  const { made, target } = state;
  const { planHandler } = made.blueprint;
  const versions = { controlPlane: current, workers: versionsOf(state) };
  const plan = await made.upgradeSteps(made.blueprint, versions, target, (handler, request) =>
    answerAboutSteps(state, handler, request),
  );
  if (typeof plan === 'string') {
    if (planHandler !== undefined) {
      const text = `Cluster API keeps the invalid plan of ${planHandler} for ten minutes, even if the extension is fixed`;
      state.findOnce('warning', text, 'restart the controller after the fix, or wait');
    }
    throw new ReconcileError(`${desiredState}${plan}`);
  }
  const [controlPlane, workers] = [plan.controlPlane, plan.workers].map((steps) => steps.join(' ') || '–');
  const text = `plan: control plane ${controlPlane}, workers ${workers}`;
  const hasSteps = plan.controlPlane.length + plan.workers.length > 0;
  if (planHandler !== undefined && text !== state.lastLoggedPlan && hasSteps) {
    state.lastLoggedPlan = text;
    state.tell({ kind: 'plan', text });
  }
  return plan;
}

function stepsInRequest({ controlPlane, workers }: PlannedVersions): JsonObject {
  const steps = (list: readonly string[]) => list.map((version) => ({ version }));
  return {
    ...(controlPlane.length > 0 && { controlPlaneUpgrades: steps(controlPlane) }),
    ...(workers.length > 0 && { workersUpgrades: steps(workers) }),
  };
}

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

interface WorkerDecision {
  worker: WorkerGroup;
  version: string;
  isUpgrading: boolean;
  isPending: boolean;
  isDeferred: boolean;
}

export interface Decisions {
  plan: PlannedVersions;
  version: string;
  phase: ControlPlanePhase;
  workers: readonly WorkerDecision[];
}

/** Calls hooks up to the first that waits, and decides the version (computeControlPlaneVersion in exp/topology/desiredstate). */
async function decideControlPlane(
  state: State,
  current: string,
  plan: PlannedVersions,
): Promise<{ version: string; phase: ControlPlanePhase }> {
  const { controlPlane, workers, target } = state;
  const steps = stepsInRequest(plan);
  const stays = (phase: ControlPlanePhase = current === target ? 'stable' : 'pending') => ({ version: current, phase });
  if (controlPlane.readyAt !== undefined) {
    return stays(controlPlane.isInitialized ? 'upgrading' : 'provisioning');
  }
  const blocks = async (hook: Parameters<typeof ask>[1], fields: JsonObject): Promise<boolean> => {
    if (!state.pending.has(hook)) {
      return false;
    }
    if ((await ask(state, hook, { ...fields, ...steps }, prefix)) === 'blocked') {
      return true;
    }
    state.setPending([], [hook]);
    state.reconcile.isChanged = true;
    return false;
  };
  const fromWorkers = state.made.lowestVersion(versionsOf(state), current) ?? '';
  if (
    (await blocks('AfterControlPlaneUpgrade', { kubernetesVersion: current })) ||
    (await blocks('BeforeWorkersUpgrade', { fromKubernetesVersion: fromWorkers, toKubernetesVersion: current }))
  ) {
    return stays();
  }
  if (plan.workers[0] === current) {
    return stays(current === target ? 'stable' : 'waiting-for-workers');
  }
  const [next] = plan.controlPlane;
  if (
    workers.some(({ readyAt }) => readyAt !== undefined) ||
    (await blocks('AfterWorkersUpgrade', { kubernetesVersion: current })) ||
    current === target ||
    next === undefined
  ) {
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
    if ((await ask(state, 'BeforeClusterUpgrade', fields, prefix)) === 'blocked') {
      return stays();
    }
    state.setPending(['AfterClusterUpgrade']);
  }
  const fields = { fromKubernetesVersion: current, toKubernetesVersion: next, ...steps };
  if ((await ask(state, 'BeforeControlPlaneUpgrade', fields, prefix)) === 'blocked') {
    return stays();
  }
  state.setPending([
    'AfterControlPlaneUpgrade',
    ...(plan.workers[0] === next ? ['BeforeWorkersUpgrade', 'AfterWorkersUpgrade'] : []),
  ]);
  return { version: next, phase: 'starting' };
}

/** Decides which groups of one kind start their upgrade (computeMachineDeploymentVersion in exp/topology/desiredstate). */
function decideWorkers(
  state: State,
  kind: WorkerSettings['kind'],
  { version: otherwise, phase }: { version: string; phase: ControlPlanePhase },
  [step]: readonly string[],
): WorkerDecision[] {
  const { blocking } = state.reconcile;
  const groups = state.workers.filter((worker) => worker.kind === kind);
  const isHookBlocking = blocking.has('AfterControlPlaneUpgrade') || blocking.has('BeforeWorkersUpgrade');
  const mayStart = !isHookBlocking && (phase === 'stable' || phase === 'waiting-for-workers');
  let upgrading = groups.filter(({ readyAt }) => readyAt !== undefined).length;
  const concurrency = state.made.upgradeConcurrency(state.cluster);
  return groups.map((worker) => {
    const { version, readyAt } = worker;
    const isUpgrading = readyAt !== undefined;
    if (version === undefined || version === state.target) {
      return { worker, version: version ?? otherwise, isUpgrading, isPending: false, isDeferred: false };
    }
    const { isDeferred } = state.settingsOf(worker);
    const isFree = mayStart && !isDeferred && upgrading < concurrency;
    if (!isFree || step === undefined || step === version) {
      return { worker, version, isUpgrading, isPending: true, isDeferred };
    }
    upgrading += isUpgrading ? 0 : 1;
    return { worker, version: step, isUpgrading: true, isPending: false, isDeferred };
  });
}

/** Decides about versions in one reconcile. @throws {ReconcileError} when a hook or the plan fails. */
export async function decideVersions(state: State): Promise<Decisions> {
  const { version: current } = state.controlPlane;
  const none: PlannedVersions = { controlPlane: [], workers: [] };
  const isCreated = current !== undefined;
  const plan = isCreated ? await upgradePlan(state, current) : none;
  const controlPlane = isCreated
    ? await decideControlPlane(state, current, plan)
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
