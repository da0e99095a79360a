import { type Bytes, quoted } from '../../../base/go-text/index.ts';
import { compareParts } from '../../../runtimehooks/index.ts';
import { NotKnown } from '../../world/not-known.ts';
import { FunctionError, tooMuch } from '../budget.ts';
import { parseUint64 } from '../values/numbers.ts';
import { Integer, type Operand, Struct, type TemplateFunction } from '../values/values.ts';
import { define, type Functions } from './define.ts';

/** Numbers of a version with what follows them. */
interface VersionParts {
  major: bigint;
  minor: bigint;
  patch: bigint;
  prerelease: string;
  metadata: string;
}

function compareNumbers(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Compares versions: -1, 0 or 1. Metadata does not count. */
function compareVersions(left: VersionParts, right: VersionParts): number {
  const order =
    compareNumbers(left.major, right.major) ||
    compareNumbers(left.minor, right.minor) ||
    compareNumbers(left.patch, right.patch);
  if (order !== 0 || left.prerelease === right.prerelease) {
    return order;
  }
  if (left.prerelease === '' || right.prerelease === '') {
    return left.prerelease === '' ? 1 : -1;
  }
  return compareParts(left.prerelease, right.prerelease);
}

const wholeVersion =
  /^v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

function segment(text: string): bigint {
  const number = parseUint64(text, 10);
  if (typeof number === 'string') {
    throw new FunctionError(`error parsing version segment: strconv.ParseUint: parsing ${quoted(text)}: ${number}`);
  }
  return number;
}

function checkPrerelease(prerelease: string): void {
  for (const part of prerelease.split('.')) {
    if (!/^[0-9A-Za-z-]*$/.test(part)) {
      throw new FunctionError('invalid prerelease string');
    }
    if (/^0[0-9]+$/.test(part)) {
      throw new FunctionError('version segment starts with 0');
    }
  }
}

/**
 * Reads a version as Masterminds' semver does: `v1.2` is 1.2.0.
 *
 * @throws {FunctionError} with its message.
 */
function parseVersion(text: Bytes): VersionParts {
  const match = wholeVersion.exec(text);
  if (match === null) {
    throw new FunctionError('invalid semantic version');
  }
  const [, major = '', minor = '0', patch = '0', prerelease = '', metadata = ''] = match;
  const parts = { major: segment(major), minor: segment(minor), patch: segment(patch), prerelease, metadata };
  checkPrerelease(prerelease);
  return parts;
}

function versionText({ major, minor, patch, prerelease, metadata }: VersionParts): Bytes {
  return `${major}.${minor}.${patch}${prerelease === '' ? '' : `-${prerelease}`}${metadata === '' ? '' : `+${metadata}`}`;
}

const ownType = '*semver.Version';
const noRelease = { prerelease: '', metadata: '' };

/** A version, as the function `semver` returns it (a pointer in Go) or one of its methods (not a pointer). */
class Version extends Struct {
  override readonly kind: 'ptr' | 'struct';
  readonly #parts: VersionParts;
  readonly #original: Bytes;

  constructor(parts: VersionParts, original: Bytes, isPointer = true) {
    super();
    this.#parts = parts;
    this.#original = original;
    this.kind = isPointer ? 'ptr' : 'struct';
  }

  get type(): string {
    return this.kind === 'ptr' ? ownType : 'semver.Version';
  }

  text(): Bytes {
    return versionText(this.#parts);
  }

  #changed(change: Partial<VersionParts>): Version {
    const parts = { ...this.#parts, ...change };
    return new Version(parts, `${this.#original.startsWith('v') ? 'v' : ''}${versionText(parts)}`, false);
  }

  /** Methods without parameters. */
  #plain(name: string): Operand {
    const { major, minor, patch, prerelease, metadata } = this.#parts;
    switch (name) {
      case 'Major':
        return new Integer('uint64', major);
      case 'Minor':
        return new Integer('uint64', minor);
      case 'Patch':
        return new Integer('uint64', patch);
      case 'Prerelease':
        return prerelease;
      case 'Metadata':
        return metadata;
      case 'String':
        return this.text();
      case 'Original':
        return this.kind === 'ptr' ? this.#original : undefined;
      case 'IncMajor':
        return this.#changed({ major: major + 1n, minor: 0n, patch: 0n, ...noRelease });
      case 'IncMinor':
        return this.#changed({ minor: minor + 1n, patch: 0n, ...noRelease });
      case 'IncPatch':
        return this.#changed({ patch: prerelease === '' ? patch + 1n : patch, ...noRelease });
      default:
        return undefined;
    }
  }

  override method(name: string): TemplateFunction | undefined {
    const compare = this.kind === 'ptr' && Object.hasOwn(comparisons, name) ? comparisons[name] : undefined;
    if (compare !== undefined) {
      return {
        parameters: [ownType],

        call: ([other]) => {
          if (!(other instanceof Version)) {
            throw new FunctionError('runtime error: invalid memory address or nil pointer dereference');
          }
          return compare(compareVersions(this.#parts, other.#parts));
        },
      };
    }
    if (name === 'SetPrerelease') {
      return {
        parameters: ['string'],

        call: ([text]) => {
          checkPrerelease(text as Bytes);
          return this.#changed({ prerelease: text as Bytes });
        },
      };
    }
    if (name === 'SetMetadata') {
      throw new NotKnown('the template sets the metadata of a version', { remedy: 'remove it' });
    }
    const value = this.#plain(name);
    return value === undefined ? undefined : { parameters: [], call: () => value };
  }
}

/** Methods that compare: what they make of -1, 0 and 1. */
const comparisons: Readonly<Record<string, (order: number) => Operand>> = {
  Compare: BigInt,
  Equal: (order) => order === 0,
  LessThan: (order) => order < 0,
  LessThanEqual: (order) => order <= 0,
  GreaterThan: (order) => order > 0,
  GreaterThanEqual: (order) => order >= 0,
};

/** A comparison with a version of which parts may be missing or `x`. */
interface Constraint {
  operator: string;
  version: VersionParts;
  /** Which parts are missing; the patch number where the minor one is too. */
  lacks: 'all' | 'minor' | 'patch' | undefined;
}

const identifiers = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
const operator = '!=|>=|=>|<=|=<|~>|[=><~^]';
const version = `v?([0-9xX|*]+)(\\.[0-9xX|*]+)?(\\.[0-9xX|*]+)?(-${identifiers})?(?:\\+${identifiers})?`;
const shape = version.replaceAll(/\((?!\?)/g, '(?:');
const space = '[\\t\\n\\f\\r ]';
const one = `(?:(?:${operator})${space}*)?${shape}`;

// Masterminds' grammar.
const single = new RegExp(`^(${operator})?${space}*(${version})$`);
const all = new RegExp(one, 'g');
const list = new RegExp(`^${space}*${one}(?:(?:${space}*,${space}*|${space}+)${one})*${space}*$`);
const range = new RegExp(
  `(?<!${space})${space}*(?<![0-9A-Za-z|*.+-])(${shape})${space}+-${space}+(${shape})${space}*`,
  'g',
);

/** The longest text with constraints that is read. */
const maxLength = 4_096;

function isAny(text: string | undefined): boolean {
  return text === undefined || ['x', 'X', '*'].includes(text);
}

function constraintOf(text: string): Constraint {
  const [, sign = '', whole = '', major, minor, patch, prerelease = ''] = single.exec(text) ?? [];
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
    throw tooMuch(`the template compares a version with more than ${maxLength} bytes of constraints`);
  }
  const rewritten = constraints.replaceAll(range, '>= $1, <= $2 ');
  const alternatives = rewritten.split('||').map((alternative) => {
    if (!list.test(alternative)) {
      throw new FunctionError(`improper constraint: ${alternative}`);
    }
    return Array.from(alternative.matchAll(all), ([text]) => constraintOf(text));
  });
  const own = parseVersion(version);
  return alternatives.some((required) => {
    const allowsPrerelease = required.some((constraint) => constraint.version.prerelease !== '');
    return required.every((constraint) => (own.prerelease === '' || allowsPrerelease) && holds(own, constraint));
  });
}

/** Functions of sprig for semantic versions. */
export const versionFunctions: Functions = {
  semver: define(['string'], ([text]) => new Version(parseVersion(text), text)),
  semverCompare: define(['string', 'string'], ([constraints, version], budget) => {
    budget.spend(constraints.length * 2);
    return satisfies(constraints, version);
  }),
};
