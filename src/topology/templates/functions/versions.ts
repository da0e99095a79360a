import type { Bytes } from '../../../base/go-text/index.ts';
import { compilePattern } from '../../../kubernetes/schema/index.ts';
import { compareParts } from '../../../runtimehooks/index.ts';
import { FunctionError } from '../budget.ts';
import type { TemplateFunction } from '../evaluate.ts';
import { compareVersions, parseVersion, Version, type VersionParts } from '../values/version.ts';
import { define } from './define.ts';

/** A comparison with a version of which parts may be missing or `x`. */
interface Constraint {
  operator: string;
  version: VersionParts;
  /** Which parts are missing; the patch number where the minor one is too. */
  lacks?: 'all' | 'minor' | 'patch';
}

const identifiers = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
const operator = '=||!=|>|<|>=|=>|<=|=<|~|~>|\\^';
const version = `v?([0-9xX|*]+)(\\.[0-9xX|*]+)?(\\.[0-9xX|*]+)?(-${identifiers})?(?:\\+${identifiers})?`;
const shape = version.replaceAll(/\((?!\?)/g, '(?:');
const one = `\\s*(?:${operator})\\s*(?:${shape})\\s*`;

/** Masterminds' grammar, in the syntax that it is written for. */
const single = `^\\s*(${operator})\\s*(${version})\\s*$`;
const all = `(?:${operator})\\s*(?:${shape})`;
const list = `^(?:${one})(?:(?:\\s+|,\\s*)(?:${operator})\\s*(?:${shape})\\s*)*$`;
const range = `\\s*(${shape})\\s+-\\s+(${shape})\\s*`;

/** The longest text with constraints that is read; each search takes its length times the size of a pattern. */
const maxLength = 4_096;

/** All matches of a pattern, each with its groups. */
function matchesOf(pattern: string, text: string): (string | undefined)[][] {
  const matcher = compilePattern(pattern).expression.matcher(text);
  const found: (string | undefined)[][] = [];
  while (matcher.find()) {
    found.push(Array.from({ length: matcher.groupCount() + 1 }, (_, group) => matcher.group(group) ?? undefined));
  }
  return found;
}

function isAny(text: string | undefined): boolean {
  return text === undefined || ['x', 'X', '*'].includes(text);
}

function constraintOf(text: string): Constraint {
  const [match] = matchesOf(single, text);
  if (match === undefined) {
    throw new FunctionError(`improper constraint: ${text}`);
  }
  const [, sign = '', whole = '', major, minor, patch, prerelease = ''] = match;
  const lacks = isAny(major) ? 'all' : isAny(minor?.slice(1)) ? 'minor' : isAny(patch?.slice(1)) ? 'patch' : undefined;
  const numbers = {
    all: '0.0.0',
    minor: `${major}.0.0`,
    patch: `${major}${minor}.0`,
  };
  let parsed: VersionParts;
  try {
    parsed = parseVersion(lacks === undefined ? whole : numbers[lacks] + prerelease);
  } catch {
    throw new FunctionError('constraint parser error');
  }
  return { operator: sign, version: parsed, ...(lacks === undefined ? {} : { lacks }) };
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
      (version.prerelease !== '' || own.prerelease !== '') && compareParts(version.prerelease, own.prerelease) !== 0
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
function satisfies(constraints: Bytes, version: Bytes): boolean {
  if (constraints.length > maxLength) {
    throw new FunctionError(`constraints of more than ${maxLength} bytes are not read`);
  }
  let rewritten = constraints;
  for (const [whole = '', from, to] of matchesOf(range, constraints)) {
    rewritten = rewritten.replace(whole, () => `>= ${from}, <= ${to} `);
  }
  const alternatives = rewritten.split('||').map((alternative) => {
    if (matchesOf(list, alternative).length === 0) {
      throw new FunctionError(`improper constraint: ${alternative}`);
    }
    return matchesOf(all, alternative).map(([text = '']) => constraintOf(text));
  });
  const own = parseVersion(version);
  return alternatives.some((required) => {
    const allowsPrerelease = required.some((constraint) => constraint.version.prerelease !== '');
    return required.every((constraint) => (own.prerelease === '' || allowsPrerelease) && holds(own, constraint));
  });
}

/** Functions of sprig for semantic versions. */
export const versionFunctions: Readonly<Record<string, TemplateFunction>> = {
  semver: define(['string'], ([text]) => new Version(parseVersion(text), text)),
  semverCompare: define(['string', 'string'], ([constraints, version], budget) => {
    budget.spend(constraints.length);
    return satisfies(constraints, version);
  }),
};
