import type { GenerateUpgradePlanRequest, GenerateUpgradePlanResponse, UpgradeStep } from '../catalog/message-types.ts';

/** A plan as in the response of GenerateUpgradePlan. */
export type UpgradePlan = Pick<GenerateUpgradePlanResponse, 'controlPlaneUpgrades' | 'workersUpgrades'>;

/** A version of Kubernetes. */
export interface KubernetesVersion {
  text: string;
  numbers: readonly [number, number, number];
  /** The pre-release part, `rc.1`; empty for a release. */
  pre: string;
}

const format = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]{1,64}))?(?:\+[0-9A-Za-z.-]{1,64})?$/;

/** Parses a version such as v1.33.0; undefined for anything else. */
export function parseVersion(text: string): KubernetesVersion | undefined {
  const match = format.exec(text);
  return match === null
    ? undefined
    : { text, numbers: [Number(match[1]), Number(match[2]), Number(match[3])], pre: match[4] ?? '' };
}

/** Compares two versions by Semantic Versioning, ignoring build metadata: below 0 if the first is older. */
export function compareVersions(a: KubernetesVersion, b: KubernetesVersion): number {
  for (const [index, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[index] ?? 0);
    if (difference !== 0) {
      return difference;
    }
  }
  if (a.pre === b.pre || a.pre === '' || b.pre === '') {
    return a.pre === b.pre ? 0 : a.pre === '' ? 1 : -1;
  }
  const [left, right] = [a.pre.split('.'), b.pre.split('.')];
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const [one = '', other = ''] = [left[index], right[index]];
    if (one !== other) {
      const [oneIsNumber, otherIsNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
      return oneIsNumber && otherIsNumber
        ? Number(one) - Number(other)
        : oneIsNumber !== otherIsNumber
          ? oneIsNumber
            ? -1
            : 1
          : one < other
            ? -1
            : 1;
    }
  }
  return left.length - right.length;
}

/**
 * Maximum number of minors that workers may skip in one step: kubelets may be three minors older than the API server.
 */
const maxWorkerMinors = 3;
/** Maximum number of steps that are examined; there are fewer minors. */
const maxSteps = 1000;

function controlPlaneProblems(
  from: KubernetesVersion,
  to: KubernetesVersion,
  steps: readonly KubernetesVersion[],
): string[] {
  if (from.text === to.text) {
    return steps.length === 0 ? [] : ['controlPlaneUpgrades must be empty: the control plane is at the target'];
  }
  const problems: string[] = [];
  let before = from;
  for (const [index, step] of steps.entries()) {
    const field = `controlPlaneUpgrades[${index}]`;
    const order = compareVersions(step, before);
    const isOtherBuild = order === 0 && step.text !== before.text;
    if (order <= 0 && !isOtherBuild) {
      problems.push(`${field}: ${step.text} must be greater than ${before.text}`);
    } else if (step.numbers[0] !== before.numbers[0] || step.numbers[1] - before.numbers[1] > 1) {
      problems.push(`${field}: ${step.text} skips a minor version after ${before.text}`);
    }
    before = step;
  }
  if (before.text !== to.text || steps.length === 0) {
    problems.push(`controlPlaneUpgrades must end with ${to.text}`);
  }
  return problems;
}

function workersProblems(
  from: KubernetesVersion | undefined,
  to: KubernetesVersion,
  steps: readonly KubernetesVersion[],
  controlPlane: readonly KubernetesVersion[],
): string[] {
  if (steps.length === 0) {
    return [];
  }
  if (from === undefined || from.text === to.text) {
    return [
      `workersUpgrades must be empty: ${from === undefined ? 'there are no workers' : 'the workers are at the target'}`,
    ];
  }
  const problems: string[] = [];
  const places = new Map(controlPlane.map(({ text }, index) => [text, index]));
  let before = from;
  let place = -1;
  for (const [index, step] of steps.entries()) {
    const field = `workersUpgrades[${index}]`;
    const at = places.get(step.text);
    if (at === undefined) {
      problems.push(`${field}: ${step.text} is not a version of the control plane, now or in controlPlaneUpgrades`);
    } else if (at <= place || compareVersions(step, before) < 0 || step.text === before.text) {
      problems.push(`${field}: ${step.text} must come after ${before.text}`);
    } else if (step.numbers[1] - before.numbers[1] > maxWorkerMinors) {
      problems.push(`${field}: ${step.text} is more than ${maxWorkerMinors} minor versions after ${before.text}`);
    }
    place = at ?? place;
    before = step;
  }
  if (before.text !== to.text) {
    problems.push(`workersUpgrades must end with ${to.text}`);
  }
  return problems;
}

/**
 * The violations of Cluster API's rules in an upgrade plan, one line each. Workers without steps get Cluster API's
 * default: the last version of each third minor, and the target.
 */
export function upgradePlanProblems(request: GenerateUpgradePlanRequest, plan: UpgradePlan): string[] {
  const problems: string[] = [];
  const read = (field: string, text: string) => {
    const version = parseVersion(text);
    if (version === undefined) {
      problems.push(`${field}: ${JSON.stringify(text.slice(0, 100))} is not a version such as v1.33.0`);
    }
    return version;
  };
  const steps = (field: string, list: readonly UpgradeStep[] = []) => {
    if (list.length > maxSteps) {
      problems.push(`${field} has more than ${maxSteps} steps`);
    }
    return list.slice(0, maxSteps).map(({ version }, index) => read(`${field}[${index}]`, version));
  };
  const from = read('fromControlPlaneKubernetesVersion', request.fromControlPlaneKubernetesVersion);
  const to = read('toKubernetesVersion', request.toKubernetesVersion);
  const fromWorkers =
    request.fromWorkersKubernetesVersion && read('fromWorkersKubernetesVersion', request.fromWorkersKubernetesVersion);
  const controlPlane = steps('controlPlaneUpgrades', plan.controlPlaneUpgrades);
  const workers = steps('workersUpgrades', plan.workersUpgrades);
  if (problems.length > 0 || from === undefined || to === undefined) {
    return problems;
  }
  const known = (versions: readonly (KubernetesVersion | undefined)[]) =>
    versions.filter((version) => version !== undefined);
  return [
    ...controlPlaneProblems(from, to, known(controlPlane)),
    ...workersProblems(fromWorkers || undefined, to, known(workers), [from, ...known(controlPlane)]),
  ];
}
