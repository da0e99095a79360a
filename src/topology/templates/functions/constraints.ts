import { FunctionError } from '../budget.ts';
import type { Bytes } from '../values/bytes.ts';
import { comparePrereleases, compareVersions, parseVersion, type VersionParts } from '../values/version.ts';

/** A comparison with a version of which parts may be missing or `x`. */
interface Constraint {
  operator: string;
  version: VersionParts;
  /** Which parts are missing; the patch number where the minor one is too. */
  lacks?: 'all' | 'minor' | 'patch';
}

const part = '[0-9xX|*]+';
const identifiers = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
const operators = '=||!=|>|<|>=|=>|<=|=<|~|~>|\\^'.split('|').sort((a, b) => b.length - a.length);
const operator = `(?:${operators.filter((one) => one !== '').join('|')}|)`;
const versionText = `v?(${part})(\\.${part})?(\\.${part})?(-${identifiers})?(?:\\+${identifiers})?`;
const versionShape = versionText.replaceAll(/\((?!\?)/g, '(?:');
const single = new RegExp(`^\\s*(${operator})\\s*${versionText}\\s*$`);
const all = new RegExp(`${operator}\\s*${versionShape}`, 'g');
const next = new RegExp(`\\s*${operator}\\s*${versionShape}`, 'y');
const range = new RegExp(`\\s*(${versionShape})\\s+-\\s+(${versionShape})\\s*`, 'g');

function isAny(text: string | undefined): boolean {
  return text === undefined || ['x', 'X', '*'].includes(text);
}

function constraintOf(text: string): Constraint {
  const match = single.exec(text);
  if (match === null) {
    throw new FunctionError(`improper constraint: ${text}`);
  }
  const [, sign = '', major, minor, patch, prerelease = ''] = match;
  const lacks = isAny(major) ? 'all' : isAny(minor?.slice(1)) ? 'minor' : isAny(patch?.slice(1)) ? 'patch' : undefined;
  const numbers = {
    all: '0.0.0',
    minor: `${major}.0.0`,
    patch: `${major}${minor}.0`,
  };
  let version: VersionParts;
  try {
    version = parseVersion(
      lacks === undefined ? text.slice(text.indexOf(sign) + sign.length).trim() : numbers[lacks] + prerelease,
    );
  } catch {
    throw new FunctionError('constraint parser error');
  }
  return { operator: sign, version, ...(lacks === undefined ? {} : { lacks }) };
}

/** Whether a text is a list of constraints, between spaces or commas. */
function isList(text: string): boolean {
  let at = 0;
  for (let isFirst = true; ; isFirst = false) {
    if (!isFirst) {
      const separator = /\s*,\s*|\s+/y;
      separator.lastIndex = at;
      if (separator.exec(text) === null) {
        return /^\s*$/.test(text.slice(at)) && at > 0;
      }
      if (/^\s*$/.test(text.slice(separator.lastIndex)) && !text.slice(at).includes(',')) {
        return true;
      }
      at = separator.lastIndex;
    }
    next.lastIndex = at;
    if (next.exec(text) === null) {
      return false;
    }
    at = next.lastIndex;
  }
}

function isDifferent(version: VersionParts, constraint: Constraint): boolean {
  const { version: own, lacks } = constraint;
  if (lacks === undefined) {
    return compareVersions(version, own) !== 0;
  }
  if (version.major !== own.major) {
    return true;
  }
  if (lacks === 'minor') {
    return false;
  }
  if (version.minor !== own.minor) {
    return true;
  }
  if (lacks === 'patch') {
    return (
      (version.prerelease !== '' || own.prerelease !== '') &&
      comparePrereleases(version.prerelease, own.prerelease) !== 0
    );
  }
  return version.patch !== own.patch || compareVersions(version, own) !== 0;
}

function isGreater(version: VersionParts, { version: own, lacks }: Constraint): boolean {
  if (lacks === undefined || lacks === 'all') {
    return version.major > own.major || (version.major === own.major && compareVersions(version, own) > 0);
  }
  if (version.major !== own.major) {
    return version.major > own.major;
  }
  return lacks === 'patch' && version.minor > own.minor;
}

function isLessOrEqual(version: VersionParts, { version: own, lacks }: Constraint): boolean {
  if (lacks === undefined) {
    return compareVersions(version, own) <= 0;
  }
  return (
    version.major < own.major || (version.major === own.major && (version.minor <= own.minor || lacks === 'minor'))
  );
}

function isNear(version: VersionParts, { version: own, lacks }: Constraint): boolean {
  if (compareVersions(version, own) < 0) {
    return false;
  }
  const isZero = own.major === 0n && own.minor === 0n && own.patch === 0n;
  if (isZero && lacks !== 'minor' && lacks !== 'patch') {
    return true;
  }
  return version.major === own.major && (version.minor === own.minor || lacks === 'minor');
}

function isCompatible(version: VersionParts, { version: own, lacks }: Constraint): boolean {
  if (compareVersions(version, own) < 0 || version.major !== own.major) {
    return false;
  }
  if (own.major > 0n || lacks === 'minor') {
    return true;
  }
  if (own.minor > 0n || lacks === 'patch') {
    return version.minor === own.minor;
  }
  return version.minor === 0n && version.patch === own.patch;
}

function holds(version: VersionParts, constraint: Constraint): boolean {
  switch (constraint.operator) {
    case '!=':
      return isDifferent(version, constraint);
    case '>':
      return isGreater(version, constraint);
    case '<':
      return compareVersions(version, constraint.version) < 0;
    case '>=':
    case '=>':
      return compareVersions(version, constraint.version) >= 0;
    case '<=':
    case '=<':
      return isLessOrEqual(version, constraint);
    case '~':
    case '~>':
      return isNear(version, constraint);
    case '^':
      return isCompatible(version, constraint);
    default:
      return constraint.lacks === undefined
        ? compareVersions(version, constraint.version) === 0
        : isNear(version, constraint);
  }
}

/**
 * Whether a version is within constraints, as Masterminds' semver reads them: `>1.21` excludes 1.21.5, and prereleases count
 * only where a constraint names one.
 *
 * @throws {FunctionError} with its message.
 */
export function satisfies(constraints: Bytes, version: Bytes): boolean {
  const rewritten = constraints.replace(range, '>= $1, <= $2 ');
  const alternatives = rewritten.split('||').map((alternative) => {
    if (!isList(alternative)) {
      throw new FunctionError(`improper constraint: ${alternative}`);
    }
    return (alternative.match(all) ?? [alternative]).map(constraintOf);
  });
  const parsed = parseVersion(version);
  return alternatives.some((list) => {
    const allowsPrerelease = list.some((one) => one.version.prerelease !== '');
    return list.every((one) => (parsed.prerelease === '' || allowsPrerelease) && holds(parsed, one));
  });
}
