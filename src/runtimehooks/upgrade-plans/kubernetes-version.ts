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

const isNumber = (part: string) => /^\d+$/.test(part);

/** Compares parts that dots separate: numbers by value, and before texts. @param ofTexts compares two other texts. */
function compareParts(a: string, b: string, ofTexts: (one: string, other: string) => number): number {
  const [left, right] = [a, b].map((parts) => (parts === '' ? [] : parts.split('.'))) as [string[], string[]];
  for (const [index, one] of left.slice(0, right.length).entries()) {
    const other = right[index] ?? '';
    const order =
      isNumber(one) !== isNumber(other)
        ? Number(isNumber(other)) - Number(isNumber(one))
        : isNumber(one)
          ? Math.sign(Number(one) - Number(other))
          : one === other
            ? 0
            : ofTexts(one, other);
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
  return a.pre === '' || b.pre === ''
    ? Number(a.pre === '') - Number(b.pre === '')
    : compareParts(a.pre, b.pre, (one, other) => (one < other ? -1 : 1));
}

/**
 * Compares versions as Cluster API does (util/version/version.go, WithBuildTags, v1.14).
 *
 * @returns -1, 0 or 1, or 2 if the versions differ only in builds that have no order.
 */
export function compareBuilds(a: KubernetesVersion, b: KubernetesVersion): number {
  return Math.sign(compareVersions(a, b)) || compareParts(a.build, b.build, () => 2);
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
    if (/^0\d+$/.test(part)) {
      return `Numeric PreRelease version must not contain leading zeroes ${JSON.stringify(part)}`;
    }
    if (part === '' || !identifier.test(part)) {
      return part === '' ? 'Prerelease is empty' : `Invalid character(s) found in prerelease ${JSON.stringify(part)}`;
    }
  }
  const wrong = build?.split('.').find((part) => part === '' || !identifier.test(part));
  if (wrong !== undefined) {
    return wrong === ''
      ? 'Build meta data is empty'
      : `Invalid character(s) found in build meta data ${JSON.stringify(wrong)}`;
  }
  return { text, numbers: numbers as unknown as KubernetesVersion['numbers'], pre: pre ?? '', build: build ?? '' };
}

/** A version as Go's semver library prints it, with `v`. */
export const formatVersion = ({ numbers, pre, build }: KubernetesVersion): string =>
  `v${numbers.join('.')}${pre && `-${pre}`}${build && `+${build}`}`;
