import { type Json, type JsonObject, objectsAt, textAt } from '../../../kubernetes/index.ts';
import { compareVersions, parseVersion, upgradePlanProblems } from '../../../runtimehooks/messages/index.ts';
import { call, failed, type Reconcile } from '../cluster/ask.ts';
import type { Simulation } from '../cluster/effects.ts';
import { type State, targetOf, tell } from '../cluster/state.ts';

/** Versions that the control plane and the workers still have to be upgraded to, in order. */
export interface Plan {
  controlPlane: string[];
  workers: string[];
}

/** How long Cluster API caches the plan of an extension, in ms. */
const planCacheMs = 10 * 60_000;
/** How many minors workers may be behind the control plane. */
const maxWorkerMinors = 3;
/** Maximum number of steps of a generated plan. */
const maxSteps = 100;

/** The major of a Kubernetes version; NaN if it is not a version. */
const majorOf = (version: string): number => parseVersion(version)?.numbers[0] ?? Number.NaN;
/** The minor of a Kubernetes version; NaN if it is not a version. */
const minorOf = (version: string): number => parseVersion(version)?.numbers[1] ?? Number.NaN;

/** Whether the first version is older; build metadata is ignored. */
const isOlder = (one: string, other: string): boolean => {
  const [a, b] = [parseVersion(one), parseVersion(other)];
  return a !== undefined && b !== undefined && compareVersions(a, b) < 0;
};

/** The lowest version of any worker; undefined without workers. */
export function lowestWorkerVersion({ workers }: State): string | undefined {
  const versions = workers.flatMap(({ version }) => (version === undefined ? [] : [version]));
  return versions.reduce<string | undefined>(
    (lowest, version) => (lowest === undefined || isOlder(version, lowest) ? version : lowest),
    undefined,
  );
}

/**
 * The steps from one version to another, given the versions of a class: the last one of each minor in between, and the
 * target.
 */
function stepsOf(versions: readonly string[], from: string, to: string): string[] {
  const lastOf = new Map<number, string>();
  for (const version of versions) {
    if (isOlder(from, version) && isOlder(version, to) && minorOf(version) > minorOf(from)) {
      const known = lastOf.get(minorOf(version));
      if (known === undefined || isOlder(known, version)) {
        lastOf.set(minorOf(version), version);
      }
    }
  }
  lastOf.delete(minorOf(to));
  return [...[...lastOf].sort(([a], [b]) => a - b).map(([, version]) => version), to];
}

/** One step per minor, each with patch 0. */
function minorSteps(from: string, to: string): string[] {
  const [first, last] = [minorOf(from), minorOf(to)];
  const major = parseVersion(to)?.numbers[0] ?? 1;
  return [
    ...Array.from(
      { length: Math.min(Math.max(0, last - first - 1), maxSteps) },
      (_, index) => `v${major}.${first + 1 + index}.0`,
    ),
    to,
  ];
}

/** The workers' default steps: every third minor, in its last version in the control plane's plan, and the target. */
function defaultWorkerSteps(state: State, controlPlane: readonly string[], to: string): string[] {
  const lowest = lowestWorkerVersion(state);
  if (lowest === undefined || lowest === to) {
    return [];
  }
  const steps: string[] = [];
  const reachable = [state.controlPlane.version ?? to, ...controlPlane];
  for (let minor = minorOf(lowest) + maxWorkerMinors; minor < minorOf(to); minor += maxWorkerMinors) {
    const version = reachable.findLast((one) => minorOf(one) === minor);
    if (version !== undefined) {
      steps.push(version);
    }
  }
  return [...steps, to];
}

const versionsIn = (list: Json | undefined): string[] => objectsAt(list ?? null).map((step) => textAt(step, 'version'));

/** The plan of the extension that the class names, cached for ten minutes. */
function* planOfExtension(reconcile: Reconcile, handler: string, from: string, to: string): Simulation<Plan> {
  const { state } = reconcile;
  const workers = lowestWorkerVersion(state);
  const key = JSON.stringify([from, workers, to]);
  if (state.plan?.key === key && state.plan.until > state.now) {
    return state.plan;
  }
  const versions = {
    fromControlPlaneKubernetesVersion: from,
    ...(workers !== undefined && { fromWorkersKubernetesVersion: workers }),
    toKubernetesVersion: to,
  };
  const prefix = 'error computing the desired state of the Cluster topology: failed to generate upgrade plan: ';
  const answer = yield* call(reconcile, 'GenerateUpgradePlan', (cluster) => ({ cluster, ...versions }), handler);
  if (!answer.ok) {
    throw failed(answer.error, prefix);
  }
  const { controlPlaneUpgrades = null, workersUpgrades = null } = answer.response;
  const [controlPlaneSteps, workerSteps] = [versionsIn(controlPlaneUpgrades), versionsIn(workersUpgrades)];
  const steps = (list: string[]) => list.map((version) => ({ version }));
  const problems = upgradePlanProblems({ cluster: {} as never, ...versions } as never, {
    controlPlaneUpgrades: steps(controlPlaneSteps),
    workersUpgrades: steps(workerSteps),
  });
  if (problems.length > 0) {
    throw failed(`invalid upgrade plan from handler ${handler}: ${problems.slice(0, 5).join('; ')}`, prefix);
  }
  const plan = {
    key,
    until: state.now + planCacheMs,
    controlPlane: controlPlaneSteps,
    workers: workerSteps.length > 0 ? workerSteps : defaultWorkerSteps(state, controlPlaneSteps, to),
  };
  const isNew =
    JSON.stringify([plan.controlPlane, plan.workers]) !==
    JSON.stringify([state.plan?.controlPlane, state.plan?.workers]);
  state.plan = plan;
  if (isNew) {
    yield tell(state, { kind: 'plan', controlPlane: plan.controlPlane, workers: plan.workers });
  }
  return plan;
}

/**
 * The steps to the version in the topology: from the extension or the versions that the class names, else one minor per
 * step.
 */
export function* upgradePlan(reconcile: Reconcile): Simulation<Plan> {
  const { state } = reconcile;
  const from = state.controlPlane.version ?? '';
  const to = targetOf(state);
  const { blueprint } = state.subject;
  if (blueprint?.planHandler !== undefined) {
    return yield* planOfExtension(reconcile, blueprint.planHandler, from, to);
  }
  const controlPlane =
    from === to
      ? []
      : blueprint !== undefined && blueprint.versions.length > 0
        ? stepsOf(blueprint.versions, from, to)
        : minorSteps(from, to);
  return { controlPlane, workers: defaultWorkerSteps(state, controlPlane, to) };
}

/** Maximum number of minors in an upgrade: each request lists all remaining steps. */
const maxMinors = 100;

/** Why Cluster API's webhook would reject a change to this version now; undefined if it would accept it. */
export function refusalOf(state: State, to: string): string | undefined {
  const from = targetOf(state);
  const { blueprint } = state.subject;
  if (parseVersion(to) === undefined) {
    return `${JSON.stringify(to)} is not a version such as v1.33.0`;
  }
  if (minorOf(to) - minorOf(from) > maxMinors) {
    return `${to} is more than ${maxMinors} minor versions above ${from}, the maximum of a rehearsal`;
  }
  if (isOlder(to, from)) {
    return `version cannot be decreased from ${JSON.stringify(from)} to ${JSON.stringify(to)}`;
  }
  if (majorOf(to) !== majorOf(from)) {
    // No default plan leads there, and without any step the upgrade would seem to be done at once.
    return `version cannot be increased from ${JSON.stringify(from)} to ${JSON.stringify(to)}: that is another major version, and Kubernetes has only v1`;
  }
  if (blueprint !== undefined && blueprint.planHandler === undefined) {
    if (blueprint.versions.length > 0 && !blueprint.versions.includes(to)) {
      return `version ${to} is not one of spec.kubernetesVersions of the ClusterClass`;
    }
    if (blueprint.versions.length === 0 && minorOf(to) > minorOf(from) + 1) {
      return `version cannot be increased from ${JSON.stringify(from)} to ${JSON.stringify(to)}: that is more than one minor, and the ClusterClass names neither spec.kubernetesVersions nor an extension that plans upgrades`;
    }
  }
  return state.pending.has('AfterClusterUpgrade')
    ? 'version cannot be changed when the "AfterClusterUpgrade" hook is still blocking'
    : undefined;
}

/** The lists of steps as in requests, where empty lists are omitted. */
export function stepsInRequest({ controlPlane, workers }: Plan): JsonObject {
  const steps = (list: readonly string[]) => list.map((version) => ({ version }));
  return {
    ...(controlPlane.length > 0 && { controlPlaneUpgrades: steps(controlPlane) }),
    ...(workers.length > 0 && { workersUpgrades: steps(workers) }),
  };
}
