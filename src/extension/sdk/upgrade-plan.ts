import {
  compareVersions as compare,
  type GenerateUpgradePlanRequest,
  type KubernetesVersion,
  parseVersion,
  type UpgradePlan,
  upgradePlanProblem,
} from '../../runtimehooks/index.ts';
import { HandlerFailure } from './handlers/handler.ts';

function versionOf(text: string): KubernetesVersion {
  const version = parseVersion(text);
  if (version === undefined) {
    throw new HandlerFailure(`${JSON.stringify(text.slice(0, 100))} is not a version such as v1.33.0`);
  }
  return version;
}

/**
 * Compares versions of Kubernetes by Semantic Versioning, without build metadata: below 0 if the first is older, 0 if they
 * are equal. @throws {HandlerFailure} for text that is not a version such as v1.33.0.
 */
export function compareVersions(a: string, b: string): number {
  return compare(versionOf(a), versionOf(b));
}

/**
 * The plan of an upgrade, for `answer.done(planUpgrade(request, versions))`: the last known version of each minor, and the
 * target. Workers take Cluster API's default.
 *
 * @param versions that may be used, in any order. Default: the first release of each minor.
 * @throws {HandlerFailure} when a minor on the way has no known version, with the reason for users.
 */
export function planUpgrade(request: GenerateUpgradePlanRequest, versions?: readonly string[]): UpgradePlan {
  const { fromControlPlaneKubernetesVersion, toKubernetesVersion } = request;
  const [from, to] = [versionOf(fromControlPlaneKubernetesVersion), versionOf(toKubernetesVersion)];
  const lastOfMinor = new Map<number, KubernetesVersion>();
  for (const version of (versions ?? []).map(versionOf)) {
    const [major, minor] = version.numbers;
    const last = lastOfMinor.get(minor);
    if (major === to.numbers[0] && (last === undefined || compare(version, last) > 0)) {
      lastOfMinor.set(minor, version);
    }
  }
  const path: string[] = [];
  const [major, targetMinor] = to.numbers;
  for (let minor = from.numbers[1] + 1; minor < Math.min(targetMinor, from.numbers[1] + maxMinors); minor++) {
    const known = versions === undefined ? `v${major}.${minor}.0` : lastOfMinor.get(minor)?.text;
    if (known === undefined) {
      const missing = `no version of Kubernetes v${major}.${minor} is known`;
      throw new HandlerFailure(`${missing}, and the upgrade has to go through one`);
    }
    path.push(known);
  }
  const steps = from.text === to.text ? path : [...path, to.text];
  const plan = { controlPlaneUpgrades: steps.map((version) => ({ version })) };
  const problem = upgradePlanProblem(request, plan);
  if (problem !== undefined) {
    throw new HandlerFailure(problem);
  }
  return plan;
}

/** Maximum number of minors that an upgrade passes; Kubernetes has fewer. */
const maxMinors = 100;
