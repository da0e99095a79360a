import { type Json, type JsonObject, objectsAt, textAt } from '../../../kubernetes/index.ts';
import {
  compareBuilds as compareParsed,
  compareVersions,
  completePlan,
  type KubernetesVersion,
  maxPlanSteps,
  type PlannedVersions,
  parseVersion,
} from '../../../runtimehooks/index.ts';
import { responseTo } from '../cluster/ask.ts';
import { ReconcileError, type Simulation } from '../cluster/effects.ts';
import type { State } from '../cluster/state.ts';
import { allowsVersion, otherVersions } from '../topology/refusals.ts';

/** How long Cluster API caches the plan of an extension, in ms. */
const planCacheMs = 10 * 60_000;

/** A version that has been checked when it was read. */
const parsed = (text: string): KubernetesVersion =>
  parseVersion(text) ?? { text, numbers: [0, 0, 0], pre: '', build: '' };
const majorOf = (version: string): number => parsed(version).numbers[0];
const minorOf = (version: string): number => parsed(version).numbers[1];
/** Whether the first version is older; build metadata is ignored. */
const isOlder = (one: string, other: string): boolean => compareVersions(parsed(one), parsed(other)) < 0;
/** As Cluster API compares versions: 2 if they differ only in builds that have no order. */
const compareBuilds = (one: string, other: string): number => compareParsed(parsed(one), parsed(other));

/** The lowest version of any worker; undefined without workers. */
export function lowestWorkerVersion({ workers, controlPlane }: State): string | undefined {
  const versions = workers.flatMap(({ version }) => (version === undefined ? [] : [version]));
  return versions.reduce<string | undefined>((lowest, version) => {
    const order = lowest === undefined ? -1 : compareBuilds(version, lowest);
    return order === -1 || (order === 2 && version !== controlPlane.version) ? version : lowest;
  }, undefined);
}

/** The steps by the versions of a class: of each minor above the current one the last, and the target. */
function stepsOf(versions: readonly string[], from: string, to: string): string[] {
  const steps = new Map<number, string>();
  for (const version of versions) {
    if (!isOlder(from, version)) {
      continue;
    }
    if (compareBuilds(version, to) === 1) {
      break;
    }
    steps.set(minorOf(version), version);
    if (version === to) {
      break;
    }
  }
  if (minorOf(from) !== minorOf(to)) {
    steps.delete(minorOf(from));
  }
  return [...steps.values()];
}

/** One step per minor, each with patch 0. */
function minorSteps(from: string, to: string): string[] {
  const length = Math.max(0, minorOf(to) - minorOf(from) - 1);
  return [...Array.from({ length }, (_, index) => `v${majorOf(to)}.${minorOf(from) + 1 + index}.0`), to];
}

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
          controlPlane:
            from === to
              ? []
              : blueprint !== undefined && blueprint.versions.length > 0
                ? stepsOf(blueprint.versions, from, to)
                : minorSteps(from, to),
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
    if (text !== state.toldPlan) {
      state.toldPlan = text;
      yield state.tell({ kind: 'plan', controlPlane: plan.controlPlane, workers: plan.workers });
    }
  }
  return plan;
}

const withoutPreRelease = (version: string) => version.replace(/-.*/, '');

/** Why Cluster API's webhook would reject a change to this version now; undefined if it would accept it. */
export function refusalOf(state: State, to: string): string | undefined {
  const from = state.target;
  const { blueprint } = state.subject;
  if (parseVersion(to) === undefined) {
    return `${JSON.stringify(to)} is not a version such as v1.33.0`;
  }
  // Each request lists all remaining steps.
  if (minorOf(to) - minorOf(from) > maxPlanSteps) {
    return `${to} is more than ${maxPlanSteps} minor versions above ${from}, the maximum of a rehearsal`;
  }
  const versions = `from ${JSON.stringify(from.slice(1))} to ${JSON.stringify(to.slice(1))}`;
  if (isOlder(withoutPreRelease(to), withoutPreRelease(from))) {
    return `version cannot be decreased ${versions}`;
  }
  if (majorOf(to) !== majorOf(from)) {
    // No default plan leads there, and without any step the upgrade would seem to be done at once.
    return `version cannot be increased ${versions}: that is another major version, and Kubernetes has only v1`;
  }
  if (blueprint !== undefined && !allowsVersion(blueprint, to)) {
    return otherVersions;
  }
  const isStepwise = blueprint?.planHandler === undefined && blueprint?.versions.length === 0;
  if (isStepwise && minorOf(to) > minorOf(from) + 1) {
    return `version cannot be increased ${versions}: that is more than one minor, and the ClusterClass names neither spec.kubernetesVersions nor an extension that plans upgrades`;
  }
  return state.pending.has('AfterClusterUpgrade')
    ? 'version cannot be changed when the "AfterClusterUpgrade" hook is still blocking'
    : undefined;
}

/** The lists of steps as in requests, where empty lists are omitted. */
export function stepsInRequest({ controlPlane, workers }: PlannedVersions): JsonObject {
  const steps = (list: readonly string[]) => list.map((version) => ({ version }));
  return {
    ...(controlPlane.length > 0 && { controlPlaneUpgrades: steps(controlPlane) }),
    ...(workers.length > 0 && { workersUpgrades: steps(workers) }),
  };
}
