import { type Bytes, quoted } from '../../../base/go-text/index.ts';
import { own } from '../../../kubernetes/index.ts';
import { compareVersions, formatVersion, type KubernetesVersion } from '../../../runtimehooks/index.ts';
import { NotKnown } from '../../world/not-known.ts';
import { FunctionError, tooMuch } from '../budget.ts';
import { parseUint64 } from '../values/numbers.ts';
import { Integer, type Operand, Struct, type TemplateFunction } from '../values/values.ts';
import { define, type Functions } from './define.ts';

const wholeVersion =
  /^v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

function segment(text: string): number {
  const number = parseUint64(text, 10);
  if (typeof number === 'string') {
    throw new FunctionError(`error parsing version segment: strconv.ParseUint: parsing ${quoted(text)}: ${number}`);
  }
  if (number > Number.MAX_SAFE_INTEGER) {
    throw new NotKnown(`the template reads a version with the number ${number}`, { remedy: 'write a smaller one' });
  }
  return Number(number);
}

function checkedPrerelease(prerelease: string): string {
  for (const part of prerelease.split('.')) {
    if (!/^[0-9A-Za-z-]*$/.test(part)) {
      throw new FunctionError('invalid prerelease string');
    }
    if (/^0[0-9]+$/.test(part)) {
      throw new FunctionError('version segment starts with 0');
    }
  }
  return prerelease;
}

/** Reads a version as Masterminds' semver does: `v1.2` is 1.2.0. @throws {FunctionError} with its message. */
function parseVersion(text: Bytes): KubernetesVersion {
  const match = wholeVersion.exec(text);
  if (match === null) {
    throw new FunctionError('invalid semantic version');
  }
  const [, major = '', minor = '0', patch = '0', pre = '', build = ''] = match;
  const numbers = [segment(major), segment(minor), segment(patch)] as const;
  return { text, numbers, pre: checkedPrerelease(pre), build };
}

const ownType = '*semver.Version';

/** A version, as the function `semver` returns it (a pointer in Go) or one of its methods (not a pointer). */
class Version extends Struct {
  readonly kind: 'ptr' | 'struct';
  readonly parts: KubernetesVersion;

  constructor(parts: KubernetesVersion, isPointer = true) {
    super();
    this.parts = parts;
    this.kind = isPointer ? 'ptr' : 'struct';
  }

  get type(): string {
    return this.kind === 'ptr' ? ownType : 'semver.Version';
  }

  text(): Bytes {
    return formatVersion(this.parts).slice(1);
  }

  changed(numbers: KubernetesVersion['numbers'], pre = '', build = ''): Version {
    return new Version({ text: '', numbers, pre, build }, false);
  }

  method(name: string): TemplateFunction | undefined {
    const plain =
      own(plainMethods, name) ?? (this.kind === 'ptr' && name === 'Original' ? () => this.parts.text : undefined);
    if (plain !== undefined) {
      return { parameters: [], call: () => plain(this) };
    }
    const compare = this.kind === 'ptr' ? own(comparisons, name) : undefined;
    if (compare !== undefined) {
      return {
        parameters: [ownType],
        call: ([other]) => {
          if (!(other instanceof Version)) {
            throw new FunctionError('runtime error: invalid memory address or nil pointer dereference');
          }
          return compare(Math.sign(compareVersions(this.parts, other.parts)));
        },
      };
    }
    if (name === 'SetMetadata') {
      throw new NotKnown('the template sets the metadata of a version', { remedy: 'remove it' });
    }
    const { numbers, build } = this.parts;
    return name === 'SetPrerelease'
      ? { parameters: ['string'], call: ([text]) => this.changed(numbers, checkedPrerelease(text as Bytes), build) }
      : undefined;
  }
}

const plainMethods: Readonly<Record<string, (version: Version) => Operand>> = {
  Major: ({ parts }) => new Integer('uint64', BigInt(parts.numbers[0])),
  Minor: ({ parts }) => new Integer('uint64', BigInt(parts.numbers[1])),
  Patch: ({ parts }) => new Integer('uint64', BigInt(parts.numbers[2])),
  Prerelease: ({ parts }) => parts.pre,
  Metadata: ({ parts }) => parts.build,
  String: (version) => version.text(),
  IncMajor: (version) => version.changed([version.parts.numbers[0] + 1, 0, 0]),
  IncMinor: (version) => version.changed([version.parts.numbers[0], version.parts.numbers[1] + 1, 0]),
  IncPatch: (version) => {
    const { numbers, pre } = version.parts;
    return version.changed([numbers[0], numbers[1], numbers[2] + (pre === '' ? 1 : 0)]);
  },
};

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
  version: KubernetesVersion;
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

/** The longest text with constraints that is read, in bytes. */
const maxLength = 4_096;

const isAny = (text: string | undefined): boolean => text === undefined || ['x', 'X', '*'].includes(text);

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
  } catch (error) {
    throw error instanceof FunctionError ? new FunctionError('constraint parser error') : error;
  }
}

function holds(version: KubernetesVersion, { operator, version: own, lacks }: Constraint): boolean {
  const order = compareVersions(version, own);
  const major = version.numbers[0] - own.numbers[0];
  const minor = version.numbers[1] - own.numbers[1];
  /** How it compares by the numbers that are given. */
  const given = lacks === 'minor' ? major : major || minor;
  const isWhole = lacks === undefined || lacks === 'all';
  const isZero = own.numbers.every((number) => number === 0);
  const isNear = order >= 0 && ((isZero && isWhole) || given === 0);
  switch (operator) {
    case '!=':
      return isWhole ? order !== 0 : given !== 0 || (lacks === 'patch' && version.pre !== own.pre);
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
        own.numbers[0] > 0 ||
        lacks === 'minor' ||
        (minor === 0 && (own.numbers[1] > 0 || lacks === 'patch' || version.numbers[2] === own.numbers[2]))
      );
    default:
      return lacks === undefined ? order === 0 : isNear;
  }
}

/** As Masterminds' semver reads constraints: `>1.21` excludes 1.21.5, and prereleases count only where one is named. */
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
    const allowsPrerelease = required.some((constraint) => constraint.version.pre !== '');
    return required.every((constraint) => (own.pre === '' || allowsPrerelease) && holds(own, constraint));
  });
}

export const versionFunctions: Functions = {
  semver: define(['string'], ([text]) => new Version(parseVersion(text))),
  semverCompare: define(['string', 'string'], ([constraints, version], budget) => {
    budget.spend(constraints.length * 2);
    return satisfies(constraints, version);
  }),
};
