import { type Json, type JsonObject, objectsAt, textAt } from '../../../kubernetes/index.ts';
import { completePlan, maxPlanSteps, type PlannedVersions } from '../../../runtimehooks/index.ts';
import { controlPlaneSteps, lowestVersion, minorOf, versionRefusal } from '../../../topology/index.ts';
import { responseTo } from '../cluster/ask.ts';
import { ReconcileError, type Simulation } from '../cluster/effects.ts';
import type { State } from '../cluster/state.ts';

/** How long Cluster API caches the plan of an extension, in ms. */
const planCacheMs = 10 * 60_000;

/** The lowest version of any worker; undefined without workers. */
export const lowestWorkerVersion = ({ workers, controlPlane }: State): string | undefined =>
  lowestVersion(
    workers.flatMap(({ version }) => (version === undefined ? [] : [version])),
    controlPlane.version,
  );

const versionsIn = (list: Json | undefined): string[] => objectsAt(list ?? null).map((step) => textAt(step, 'version'));

/**
 * The plan of the extension that the class names. It is cached for ten minutes before it is validated, so an invalid one
 * stays; a failure is not cached.
 */
function* planOfExtension(state: State, handler: string, from: string, lowest: string): Simulation<PlannedVersions> {
  const to = state.target;
  const key = [from, lowest, to].join(' ');
  if (state.plan?.key === key && state.plan.until > state.now) {
    return state.plan;
  }
  const versions = {
    fromControlPlaneKubernetesVersion: from,
    ...(lowest !== '' && { fromWorkersKubernetesVersion: lowest }),
    toKubernetesVersion: to,
  };
  const prefix = `${desiredState}failed to get upgrade plan from extension: `;
  const options = { handler, withCluster: true };
  const response = yield* responseTo(prefix, state, 'GenerateUpgradePlan', versions, options);
  state.plan = {
    key,
    until: state.now + planCacheMs,
    controlPlane: versionsIn(response.controlPlaneUpgrades).slice(0, maxPlanSteps + 1),
    workers: versionsIn(response.workersUpgrades).slice(0, maxPlanSteps + 1),
  };
  return state.plan;
}

/** What Cluster API puts before errors of computing what the objects of a Cluster should be. */
export const desiredState = 'error computing the desired state of the Cluster topology: ';

/**
 * The steps to the version in the topology: from the extension or the versions that the class names, else one minor per
 * step. Without a class, an upgrade may take several.
 *
 * @throws {ReconcileError} when the extension fails, or its plan is invalid.
 */
export function* upgradePlan(state: State): Simulation<PlannedVersions> {
  const from = state.controlPlane.version ?? '';
  const to = state.target;
  const lowest = lowestWorkerVersion(state);
  if (from === to && (lowest === undefined || lowest === to)) {
    return { controlPlane: [], workers: [] };
  }
  const { blueprint } = state.subject;
  const planned: PlannedVersions =
    blueprint?.planHandler !== undefined
      ? yield* planOfExtension(state, blueprint.planHandler, from, lowest ?? '')
      : {
          controlPlane: controlPlaneSteps(blueprint, from, to),
          workers: [],
        };
  const plan = completePlan({ controlPlane: from, workers: lowest ?? '', to }, planned);
  if (typeof plan === 'string') {
    if (blueprint?.planHandler !== undefined) {
      const text = `Cluster API keeps the invalid plan of ${blueprint.planHandler} for ten minutes, even if the extension is fixed`;
      yield* state.findOnce('warning', text, 'restart the controller after the fix, or wait');
    }
    throw new ReconcileError(`${desiredState}${plan}`);
  }
  if (blueprint?.planHandler !== undefined) {
    const text = JSON.stringify([plan.controlPlane, plan.workers]);
    if (text !== state.lastLoggedPlan) {
      state.lastLoggedPlan = text;
      yield state.tell({ kind: 'plan', controlPlane: plan.controlPlane, workers: plan.workers });
    }
  }
  return plan;
}

/** Why Cluster API's webhook would reject a change to this version now; undefined if it would accept it. */
export function refusalOf(state: State, to: string): string | undefined {
  const from = state.target;
  // Each request lists all remaining steps.
  if (minorOf(to) - minorOf(from) > maxPlanSteps) {
    return `${to} is more than ${maxPlanSteps} minor versions above ${from}, the maximum of a rehearsal`;
  }
  return (
    versionRefusal(state.subject.blueprint, from, to) ??
    (state.pending.has('AfterClusterUpgrade')
      ? 'version cannot be changed when the "AfterClusterUpgrade" hook is still blocking'
      : undefined)
  );
}

/** The lists of steps as in requests, where empty lists are omitted. */
export function stepsInRequest({ controlPlane, workers }: PlannedVersions): JsonObject {
  const steps = (list: readonly string[]) => list.map((version) => ({ version }));
  return {
    ...(controlPlane.length > 0 && { controlPlaneUpgrades: steps(controlPlane) }),
    ...(workers.length > 0 && { workersUpgrades: steps(workers) }),
  };
}
