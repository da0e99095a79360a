/** A version of Kubernetes. */
export interface KubernetesVersion {
  text: string;
  numbers: readonly [number, number, number];
  /** The pre-release part, `rc.1`; empty for a release. */
  pre: string;
  /** Build metadata, `build.7`; empty without. */
  build: string;
}

const format = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]{1,64}))?(?:\+([0-9A-Za-z.-]{1,64}))?$/;

/** Parses a version such as v1.33.0; undefined for anything else. */
export function parseVersion(text: string): KubernetesVersion | undefined {
  const match = format.exec(text);
  return match === null
    ? undefined
    : {
        text,
        numbers: [Number(match[1]), Number(match[2]), Number(match[3])],
        pre: match[4] ?? '',
        build: match[5] ?? '',
      };
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
export function compareBuilds(a: KubernetesVersion, b: KubernetesVersion): number {
  const order = Math.sign(compareVersions(a, b));
  if (order !== 0) {
    return order;
  }
  const [left, right] = [a, b].map(({ build }) => (build === '' ? [] : build.split('.'))) as [string[], string[]];
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const found = compareIdentifiers(left[index] ?? '', right[index] ?? '');
    if (found !== 0) {
      return found;
    }
  }
  return Math.sign(left.length - right.length);
}

const digits = /^\d*$/;
const identifier = /^[0-9A-Za-z-]*$/;

/** A number as Go's semver library reads it, after leading zeros were cut; else its error. */
function numberIn(part: string, name: string): number | string {
  if (!digits.test(part)) {
    return `Invalid character(s) found in ${name} number ${JSON.stringify(part)}`;
  }
  if (part === '' || part.length > 15) {
    return `strconv.ParseUint: parsing ${JSON.stringify(part)}: ${part === '' ? 'invalid syntax' : 'value out of range'}`;
  }
  return Number(part);
}

/**
 * Parses a version as Cluster API parses those in plans (ParseTolerant of Go's blang/semver): also `1.33`.
 *
 * @returns the error of that library for anything else.
 */
export function parseTolerantly(text: string): KubernetesVersion | string {
  const [major = '', minor, ...rest] = text.trim().replace(/^v/, '').split('.');
  const parts = minor === undefined ? [major] : rest.length === 0 ? [major, minor] : [major, minor, rest.join('.')];
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? '')) {
    return 'Short version cannot contain PreRelease/Build meta data';
  }
  const [first = '', second = '0', third = '0'] = parts.map((part) =>
    part.length > 1 ? part.replace(/^0+(?=\d)/, '') : part,
  );
  const plus = third.indexOf('+');
  const build = plus === -1 ? undefined : third.slice(plus + 1);
  const release = plus === -1 ? third : third.slice(0, plus);
  const dash = release.indexOf('-');
  const pre = dash === -1 ? undefined : release.slice(dash + 1);
  const numbers: number[] = [];
  for (const [name, part] of [
    ['major', first],
    ['minor', second],
    ['patch', dash === -1 ? release : release.slice(0, dash)],
  ] as const) {
    const number = numberIn(part, name);
    if (typeof number === 'string') {
      return number;
    }
    numbers.push(number);
  }
  for (const part of pre?.split('.') ?? []) {
    if (part === '') {
      return 'Prerelease is empty';
    }
    if (/^0\d+$/.test(part)) {
      return `Numeric PreRelease version must not contain leading zeroes ${JSON.stringify(part)}`;
    }
    if (!identifier.test(part)) {
      return `Invalid character(s) found in prerelease ${JSON.stringify(part)}`;
    }
  }
  for (const part of build?.split('.') ?? []) {
    if (part === '') {
      return 'Build meta data is empty';
    }
    if (!identifier.test(part)) {
      return `Invalid character(s) found in build meta data ${JSON.stringify(part)}`;
    }
  }
  return { text, numbers: numbers as unknown as KubernetesVersion['numbers'], pre: pre ?? '', build: build ?? '' };
}

/** A version as Go's semver library prints it, with `v`. */
export const formatVersion = ({ numbers, pre, build }: KubernetesVersion): string =>
  `v${numbers.join('.')}${pre && `-${pre}`}${build && `+${build}`}`;
