import { type JsonObject, nameOf, namespaceOf, objectsAt, textAt } from '../../kubernetes/index.ts';
import {
  compareBuilds,
  compareVersions,
  completePlan,
  type KubernetesVersion,
  maxPlanSteps,
  type PlannedVersions,
  parseVersion,
} from '../../runtimehooks/index.ts';
import type { Blueprint } from '../blueprint/blueprint.ts';
import type { PatchInput } from '../patches/items.ts';
import { Stopped } from '../world/not-known.ts';
import { clusterInRequest } from './cluster-in-request.ts';
import { prefix, versionOfWorker } from './computed.ts';
import { type Existing, workerKey } from './existing.ts';
import type { PlannedState } from './planned-state.ts';

const parsed = (text: string): KubernetesVersion =>
  parseVersion(text) ?? { text, numbers: [0, 0, 0], pre: '', build: '' };
const minorOf = (version: string): number => parsed(version).numbers[1];

/** The steps by the versions of a class: of each minor above the current one the last, and the target. */
function stepsOf(versions: readonly string[], from: string, to: string): string[] {
  const steps = new Map<number, string>();
  for (const version of versions) {
    if (compareVersions(parsed(from), parsed(version)) >= 0) {
      continue;
    }
    if (compareBuilds(parsed(version), parsed(to)) === 1) {
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

function minorSteps(from: string, to: string): string[] {
  const length = Math.max(0, minorOf(to) - minorOf(from) - 1);
  const [major] = parsed(to).numbers;
  return [...Array.from({ length }, (_, index) => `v${major}.${minorOf(from) + 1 + index}.0`), to];
}

/** If no extension plans them: by the versions of the class, else by minors. */
function controlPlaneSteps({ versions }: Blueprint, from: string, to: string): string[] {
  if (from === to) {
    return [];
  }
  return versions.length > 0 ? stepsOf(versions, from, to) : minorSteps(from, to);
}

/** The lowest of the versions of workers; undefined without any. */
export const lowestVersion = (versions: readonly string[], controlPlaneVersion: string): string | undefined =>
  versions.reduce<string | undefined>((lowest, version) => {
    // 2 if they differ only in builds that have no order.
    const order = lowest === undefined ? -1 : compareBuilds(parsed(version), parsed(lowest));
    return order === -1 || (order === 2 && version !== controlPlaneVersion) ? version : lowest;
  }, undefined);

const versionsIn = (response: JsonObject, list: string): string[] =>
  objectsAt(response, list)
    .slice(0, maxPlanSteps + 1)
    .map((step) => textAt(step, 'version'));

/** The steps of an upgrade (`ask`: of the extension that plans them), or why Cluster API takes none. */
export async function upgradeSteps(
  blueprint: Blueprint,
  { controlPlane, workers }: { controlPlane: string; workers: readonly string[] },
  to: string,
  ask: (handler: string, request: JsonObject) => Promise<JsonObject>,
): Promise<PlannedVersions | string> {
  const lowest = lowestVersion(workers, controlPlane);
  if (controlPlane === to && (lowest === undefined || lowest === to)) {
    return { controlPlane: [], workers: [] };
  }
  const { planHandler: handler } = blueprint;
  let planned: PlannedVersions = { controlPlane: controlPlaneSteps(blueprint, controlPlane, to), workers: [] };
  if (handler !== undefined) {
    const request = {
      fromControlPlaneKubernetesVersion: controlPlane,
      ...(lowest !== undefined && { fromWorkersKubernetesVersion: lowest }),
      toKubernetesVersion: to,
    };
    const response = await ask(handler, request);
    planned = {
      controlPlane: versionsIn(response, 'controlPlaneUpgrades'),
      workers: versionsIn(response, 'workersUpgrades'),
    };
  }
  return completePlan({ controlPlane, workers: lowest ?? '', to }, planned);
}

/** @throws {NotKnown} if the extension that plans them does not answer; {Stopped} if Cluster API does not take them. */
export async function plannedSteps(
  state: PlannedState,
  { release, cluster, blueprint, workers }: PatchInput,
  existing: Existing,
): Promise<PlannedVersions> {
  const hook = 'GenerateUpgradePlan';
  const to = textAt(cluster, 'spec', 'topology', 'version');
  const versions = {
    controlPlane: textAt(existing.controlPlane?.object, 'spec', 'version') || to,
    workers: workers.flatMap(({ kind, topologyName }) => {
      const known = existing.workers.get(workerKey(kind, topologyName));
      return known === undefined ? [] : [versionOfWorker(known)];
    }),
  };
  const object = { namespace: namespaceOf(cluster), name: nameOf(cluster) };
  const steps = await upgradeSteps(blueprint, versions, to, async (handler, request) => {
    const sent = { cluster: clusterInRequest(cluster, hook, release, blueprint), ...request };
    const call = { hook, handler, request: sent, object } as const;
    const answer = await state.call(call, 'the steps of the upgrade are not known');
    if (answer.is === 'failed') {
      throw new Stopped(`${prefix}failed to get upgrade plan from extension: ${answer.error}`);
    }
    return answer.response;
  });
  if (typeof steps === 'string') {
    throw new Stopped(`${prefix}${steps}`);
  }
  return steps;
}
