export interface KubernetesVersion {
  text: string;
  numbers: readonly [number, number, number];
  /** The pre-release part, `rc.1`; empty for a release. */
  pre: string;
  /** Build metadata, `build.7`; empty without. */
  build: string;
}

const isNumber = (part: string) => /^\d+$/.test(part);

const byText = (one: string, other: string): number => (one < other ? -1 : 1);

const compareDigits = (one: string, other: string): number =>
  one === other ? 0 : Math.sign(one.length - other.length) || byText(one, other);

/** Compares parts that dots separate: numbers by value, and before texts. @param ofTexts compares two other texts. */
function compareParts(a: string, b: string, ofTexts: (one: string, other: string) => number = byText): number {
  const [left, right] = [a, b].map((parts) => (parts === '' ? [] : parts.split('.'))) as [string[], string[]];
  for (const [index, one] of left.slice(0, right.length).entries()) {
    const other = right[index] ?? '';
    const [isOneNumber, isOtherNumber] = [isNumber(one), isNumber(other)];
    let order = Number(isOtherNumber) - Number(isOneNumber);
    if (one !== other && isOneNumber === isOtherNumber) {
      order = isOneNumber ? compareDigits(one.replace(/^0+/, ''), other.replace(/^0+/, '')) : ofTexts(one, other);
    }
    if (order !== 0) {
      return order;
    }
  }
  return Math.sign(left.length - right.length);
}

/** Compares two versions by Semantic Versioning, ignoring build metadata: below 0 if the first is older. */
export function compareVersions(a: KubernetesVersion, b: KubernetesVersion): number {
  for (const [index, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[index] ?? 0);
    if (difference !== 0) {
      return difference;
    }
  }
  return a.pre === '' || b.pre === '' ? Number(a.pre === '') - Number(b.pre === '') : compareParts(a.pre, b.pre);
}

/** As Cluster API compares (util/version/version.go, WithBuildTags, v1.14): -1, 0 or 1, or 2 for builds that have no order. */
export function compareBuilds(a: KubernetesVersion, b: KubernetesVersion): number {
  return Math.sign(compareVersions(a, b)) || compareParts(a.build, b.build, () => 2);
}

const strict = /^v?\d{1,9}(?:\.\d{1,9}){2}(?:-[0-9A-Za-z.-]{1,64})?(?:\+[0-9A-Za-z.-]{1,64})?$/;

/** Parses a version such as v1.33.0; undefined for anything else. */
export const parseVersion = (text: string): KubernetesVersion | undefined =>
  strict.test(text) ? parseTolerantly(text) : undefined;

const tolerated = /^v?(\d+)(?:\.(\d+)(?:\.(\d+)(?:-([0-9A-Za-z.-]*))?(?:\+([0-9A-Za-z.-]*))?)?)?$/;

/** As Cluster API parses those in plans (ParseTolerant of Go's blang/semver): also `1.33`, and numbers with leading zeros. */
export function parseTolerantly(text: string): KubernetesVersion | undefined {
  const [, major = '', minor = '0', patch = '0', pre, build] = tolerated.exec(text.trim()) ?? [];
  const numbers = [Number(major || Number.NaN), Number(minor), Number(patch)] as const;
  const before = pre?.split('.') ?? [];
  const isValid =
    numbers.every(Number.isSafeInteger) &&
    ![...before, ...(build?.split('.') ?? [])].includes('') &&
    !before.some((part) => /^0\d+$/.test(part));
  return isValid ? { text, numbers, pre: pre ?? '', build: build ?? '' } : undefined;
}

/** A version as Go's semver library prints it, with `v`. */
export const formatVersion = ({ numbers, pre, build }: KubernetesVersion): string =>
  `v${numbers.join('.')}${pre && `-${pre}`}${build && `+${build}`}`;
