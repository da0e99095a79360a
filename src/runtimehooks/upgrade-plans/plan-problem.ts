import { itemsAt, type Json, textAt } from '../../kubernetes/index.ts';
import type { GenerateUpgradePlanRequest, GenerateUpgradePlanResponse } from '../message-types/index.ts';
import { compareBuilds, formatVersion, type KubernetesVersion, parseTolerantly } from './kubernetes-version.ts';

export type UpgradePlan = Pick<GenerateUpgradePlanResponse, 'controlPlaneUpgrades' | 'workersUpgrades'>;

/** Versions that the control plane and the workers still have to be upgraded to, in order. */
export interface PlannedVersions {
  controlPlane: readonly string[];
  workers: readonly string[];
}

interface Upgrade {
  controlPlane: string;
  /** The lowest version of any worker; empty without workers. */
  workers: string;
  to: string;
}

/** How many minors workers may be behind the control plane. */
const maxWorkerMinors = 3;
/** Maximum number of steps of a plan; Kubernetes has fewer minors. */
export const maxPlanSteps = 100;

/** Why Cluster API rejects a plan, in its words (exp/topology/desiredstate/upgrade_plan.go, v1.14). */
class PlanError extends Error {}

function parsed(text: string, where: string): KubernetesVersion {
  const version = parseTolerantly(text);
  if (version === undefined) {
    throw new PlanError(`${where} ${text}: it is not a version such as v1.33.0`);
  }
  return version;
}

/**
 * Checks steps one after the other, and the last one. @param words what messages about one item, and about the end, begin with.
 * @param check what else is wrong with a step; `order` is that of the step and the one before, as from `compareBuilds`.
 */
function checkSteps(
  [ofItem, ofEnd]: readonly [string, string],
  [from, to]: readonly [KubernetesVersion, KubernetesVersion],
  steps: readonly string[],
  check: (step: KubernetesVersion, before: KubernetesVersion, order: number) => string | undefined,
): void {
  let before = from;
  for (const [index, text] of steps.entries()) {
    const step = parsed(text, `${ofItem} ${index}; failed to parse version`);
    const order = compareBuilds(step, before);
    const problem =
      order <= 0 ? `version ${text} must be greater than ${formatVersion(before)}` : check(step, before, order);
    if (problem !== undefined) {
      throw new PlanError(`${ofItem} ${index}; ${problem}`);
    }
    before = step;
  }
  if (compareBuilds(before, to) !== 0) {
    throw new PlanError(
      `${ofEnd} upgrade plan must end with version ${to.text}, ends with ${formatVersion(before)} instead`,
    );
  }
}

/** The workers' default: each third minor, in its last version in the control plane's plan, and the target; none if one is missing. */
function defaultWorkerSteps(lowest: KubernetesVersion, to: KubernetesVersion, reachable: readonly string[]): string[] {
  const versions = new Map(reachable.map((text) => [parsed(text, '').numbers[1], text]));
  const steps: string[] = [];
  for (let minor = lowest.numbers[1] + maxWorkerMinors; minor < to.numbers[1]; minor += maxWorkerMinors) {
    const version = versions.get(minor);
    if (version === undefined) {
      return [];
    }
    steps.push(version);
  }
  return [...steps, to.text];
}

/** @param reachable the versions of the control plane, in their order. */
function checkWorkers(
  lowest: KubernetesVersion,
  to: KubernetesVersion,
  steps: readonly string[],
  reachable: readonly string[],
): void {
  const invalid = 'invalid workers upgrade plan';
  const unordered = (text: string) => `failer to determine version ${text} order`;
  checkSteps([`${invalid}, item`, `${invalid}; workers`], [lowest, to], steps, (step, before, order) => {
    if (order === 2) {
      const [place, placeBefore] = [step.text, formatVersion(before)].map((text) => reachable.lastIndexOf(text));
      if (place === -1) {
        return unordered(step.text);
      }
      if (placeBefore === -1) {
        throw new PlanError(unordered(formatVersion(before)));
      }
      if ((place ?? 0) < (placeBefore ?? 0)) {
        return `version ${step.text} must be before ${formatVersion(before)}`;
      }
    }
    const [minor, minorBefore] = [step.numbers[1], before.numbers[1]];
    return minor - minorBefore > maxWorkerMinors
      ? `workers cannot go from minor ${minorBefore} (${formatVersion(before)}) to minor ${minor} (${step.text}), an intermediate step is required to comply with Kubernetes version skew rules`
      : undefined;
  });
}

function completed(upgrade: Upgrade, plan: PlannedVersions): PlannedVersions {
  for (const [name, steps] of Object.entries(plan)) {
    if (steps.length > maxPlanSteps) {
      throw new PlanError(`the upgrade plan has more than ${maxPlanSteps} steps for ${name}, the maximum here`);
    }
  }
  const to = parsed(upgrade.to, 'failed to parse Cluster version');
  const from = parsed(upgrade.controlPlane, 'failed to parse ControlPlane version');
  const lowest = upgrade.workers === '' ? undefined : parsed(upgrade.workers, 'failed to parse min workers version');
  const { controlPlane } = plan;
  const invalid = 'invalid ControlPlane upgrade plan:';
  if (compareBuilds(from, to) !== 0) {
    checkSteps([`${invalid} item`, `${invalid} control plane`], [from, to], controlPlane, (step, before) => {
      const minor = before.numbers[1];
      return step.numbers[1] === minor || step.numbers[1] === minor + 1
        ? undefined
        : `expecting a version with minor ${minor} or ${minor + 1}, found version ${step.text}`;
    });
  } else if (controlPlane.length > 0) {
    throw new PlanError(`${invalid} control plane is already at the desired version`);
  }
  if (lowest === undefined || compareBuilds(lowest, to) === 0) {
    if (plan.workers.length > 0) {
      throw new PlanError(
        'invalid worker upgrade plan; there are no workers or workers already at the desired version',
      );
    }
    return plan;
  }
  const reachable = [upgrade.controlPlane, ...controlPlane];
  const notPlanned = new Set(plan.workers.filter((text) => !reachable.includes(text)));
  if (controlPlane.length > 0 && notPlanned.size > 0) {
    throw new PlanError(
      `invalid workers upgrade plan: versions ${[...notPlanned].join(',')} doesn't match any versions in the control plane upgrade plan nor the control plane version`,
    );
  }
  const workers = plan.workers.length > 0 ? plan.workers : defaultWorkerSteps(lowest, to, reachable);
  if (workers.length > 0) {
    checkWorkers(lowest, to, workers, reachable);
  }
  return { controlPlane, workers };
}

/** The plan that Cluster API makes of one: workers without steps get its default. Returns the text of its error, if it refuses the plan. */
export function completePlan(upgrade: Upgrade, plan: PlannedVersions): PlannedVersions | string {
  try {
    return completed(upgrade, plan);
  } catch (error) {
    if (error instanceof PlanError) {
      return error.message;
    }
    throw error;
  }
}

/** Why Cluster API rejects a plan, as it says so in the Cluster's condition; undefined for a valid plan. */
export function upgradePlanProblem(request: GenerateUpgradePlanRequest, plan: UpgradePlan): string | undefined {
  // An extension may answer anything: Go reads null as an empty list, and as a step without a version.
  const versions = (steps: unknown) => itemsAt(steps as Json | undefined).map((step) => textAt(step, 'version'));
  const complete = completePlan(
    {
      controlPlane: request.fromControlPlaneKubernetesVersion,
      workers: request.fromWorkersKubernetesVersion ?? '',
      to: request.toKubernetesVersion,
    },
    { controlPlane: versions(plan.controlPlaneUpgrades), workers: versions(plan.workersUpgrades) },
  );
  return typeof complete === 'string' ? complete : undefined;
}
