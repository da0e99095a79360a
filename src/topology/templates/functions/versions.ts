import type { Bytes } from '../../../base/go-text/index.ts';
import { compilePattern } from '../../../kubernetes/schema/index.ts';
import { FunctionError } from '../budget.ts';
import type { TemplateFunction } from '../evaluate.ts';
import { compareNumbers, compareVersions, parseVersion, Version, type VersionParts } from '../values/version.ts';
import { define } from './define.ts';

/** A comparison with a version of which parts may be missing or `x`. */
interface Constraint {
  operator: string;
  version: VersionParts;
  /** Which parts are missing; the patch number where the minor one is too. */
  lacks: 'all' | 'minor' | 'patch' | undefined;
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
  try {
    return { operator: sign, version: parseVersion(lacks === undefined ? whole : numbers[lacks] + prerelease), lacks };
  } catch {
    throw new FunctionError('constraint parser error');
  }
}

function holds(version: VersionParts, { operator, version: own, lacks }: Constraint): boolean {
  const order = compareVersions(version, own);
  const major = compareNumbers(version.major, own.major);
  const minor = compareNumbers(version.minor, own.minor);
  /** How it compares by the numbers that are given. */
  const given = lacks === 'minor' ? major : major || minor;
  const isWhole = lacks === undefined || lacks === 'all';
  const isZero = own.major === 0n && own.minor === 0n && own.patch === 0n;
  const isNear = order >= 0 && ((isZero && isWhole) || given === 0);
  switch (operator) {
    case '!=':
      return isWhole ? order !== 0 : given !== 0 || (lacks === 'patch' && version.prerelease !== own.prerelease);
    case '>':
      return isWhole ? order > 0 : given > 0;
    case '<':
      return order < 0;
    case '>=':
    case '=>':
      return order >= 0;
    case '<=':
    case '=<':
      return lacks === undefined ? order <= 0 : given <= 0;
    case '~':
    case '~>':
      return isNear;
    case '^':
      if (order < 0 || major !== 0) {
        return false;
      }
      // Below 1.0.0, the first number that is not zero has to stay.
      return (
        own.major > 0n ||
        lacks === 'minor' ||
        (minor === 0 && (own.minor > 0n || lacks === 'patch' || version.patch === own.patch))
      );
    default:
      return lacks === undefined ? order === 0 : isNear;
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
