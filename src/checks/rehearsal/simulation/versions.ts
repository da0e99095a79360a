import { compareVersions, type KubernetesVersion, parseVersion } from '../../../runtimehooks/messages/index.ts';

/** A version that has been checked when it was read. */
const parsed = (text: string): KubernetesVersion => parseVersion(text) ?? { text, numbers: [0, 0, 0], pre: '' };

/** The minor of a Kubernetes version; NaN if it is not a version. */
export const minorOf = (version: string): number => parseVersion(version)?.numbers[1] ?? Number.NaN;
/** The major of a Kubernetes version; NaN if it is not a version. */
export const majorOf = (version: string): number => parseVersion(version)?.numbers[0] ?? Number.NaN;

/** Whether the first version is older; build metadata is ignored. */
export const isOlder = (one: string, other: string): boolean => compareVersions(parsed(one), parsed(other)) < 0;

const buildOf = (version: string): string[] => version.split('+')[1]?.split('.') ?? [];

/** @returns -1, 0, 1, or 2 for texts that have no order. */
function compareIdentifiers(a: string, b: string): number {
  const [isNumber, otherIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber !== otherIsNumber) {
    return isNumber ? -1 : 1;
  }
  if (!isNumber) {
    return a === b ? 0 : 2;
  }
  return Math.sign(Number(a) - Number(b));
}

/**
 * Compares versions as Cluster API does (util/version/version.go, WithBuildTags).
 *
 * @returns -1, 0 or 1, or 2 if the versions differ only in builds that have no order.
 */
export function compareBuilds(a: string, b: string): number {
  const order = Math.sign(compareVersions(parsed(a), parsed(b)));
  if (order !== 0) {
    return order;
  }
  const [left, right] = [buildOf(a), buildOf(b)];
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const found = compareIdentifiers(left[index] ?? '', right[index] ?? '');
    if (found !== 0) {
      return found;
    }
  }
  return Math.sign(left.length - right.length);
}
