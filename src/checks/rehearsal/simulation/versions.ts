import {
  compareBuilds as compareParsed,
  compareVersions,
  type KubernetesVersion,
  parseVersion,
} from '../../../runtimehooks/index.ts';

/** A version that has been checked when it was read. */
const parsed = (text: string): KubernetesVersion =>
  parseVersion(text) ?? { text, numbers: [0, 0, 0], pre: '', build: '' };

/** The minor of a Kubernetes version; NaN if it is not a version. */
export const minorOf = (version: string): number => parseVersion(version)?.numbers[1] ?? Number.NaN;
/** The major of a Kubernetes version; NaN if it is not a version. */
export const majorOf = (version: string): number => parseVersion(version)?.numbers[0] ?? Number.NaN;

/** Whether the first version is older; build metadata is ignored. */
export const isOlder = (one: string, other: string): boolean => compareVersions(parsed(one), parsed(other)) < 0;

/**
 * Compares versions as Cluster API does.
 *
 * @returns -1, 0 or 1, or 2 if the versions differ only in builds that have no order.
 */
export const compareBuilds = (a: string, b: string): number => compareParsed(parsed(a), parsed(b));
