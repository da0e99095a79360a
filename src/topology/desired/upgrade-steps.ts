import {
  compareBuilds as compareParsed,
  compareVersions,
  type KubernetesVersion,
  parseVersion,
} from '../../runtimehooks/index.ts';
import type { Blueprint } from '../blueprint/blueprint.ts';

/** A version that has been checked when it was read. */
const parsed = (text: string): KubernetesVersion =>
  parseVersion(text) ?? { text, numbers: [0, 0, 0], pre: '', build: '' };
const majorOf = (version: string): number => parsed(version).numbers[0];
export const minorOf = (version: string): number => parsed(version).numbers[1];
/** Whether the first version is older; build metadata is ignored. */
const isOlder = (one: string, other: string): boolean => compareVersions(parsed(one), parsed(other)) < 0;
/** As Cluster API compares versions: 2 if they differ only in builds that have no order. */
export const compareBuilds = (one: string, other: string): number => compareParsed(parsed(one), parsed(other));

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

/** The steps of a control plane to a version, if no extension plans them: by the versions of the class, else by minors. */
export const controlPlaneSteps = (blueprint: Blueprint | undefined, from: string, to: string): string[] =>
  from === to
    ? []
    : blueprint !== undefined && blueprint.versions.length > 0
      ? stepsOf(blueprint.versions, from, to)
      : minorSteps(from, to);

/** The lowest of the versions of workers; undefined without any. */
export const lowestVersion = (
  versions: readonly string[],
  controlPlaneVersion: string | undefined,
): string | undefined =>
  versions.reduce<string | undefined>((lowest, version) => {
    const order = lowest === undefined ? -1 : compareBuilds(version, lowest);
    return order === -1 || (order === 2 && version !== controlPlaneVersion) ? version : lowest;
  }, undefined);
