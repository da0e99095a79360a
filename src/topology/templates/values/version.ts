import { type Bytes, quoted } from '../../../base/go-text/index.ts';
import { compareParts } from '../../../runtimehooks/index.ts';
import { FunctionError } from '../budget.ts';
import { parseUint64 } from './numbers.ts';
import { type Callable, Integer, type Operand, Struct } from './values.ts';

/** Numbers of a version with what follows them. */
export interface VersionParts {
  major: bigint;
  minor: bigint;
  patch: bigint;
  prerelease: string;
  metadata: string;
}

export function compareNumbers(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Compares versions: -1, 0 or 1. Metadata does not count. */
export function compareVersions(left: VersionParts, right: VersionParts): number {
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

const version =
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
export function parseVersion(text: Bytes): VersionParts {
  const match = version.exec(text);
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
export class Version extends Struct {
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

  override method(name: string): Callable | undefined {
    const compare = this.kind === 'ptr' && Object.hasOwn(comparisons, name) ? comparisons[name] : undefined;
    if (compare !== undefined) {
      return {
        parameters: [ownType],
        isAny: false,
        call: ([other]) => {
          if (!(other instanceof Version)) {
            throw new FunctionError('runtime error: invalid memory address or nil pointer dereference');
          }
          return compare(compareVersions(this.#parts, other.#parts));
        },
      };
    }
    if (name === 'SetPrerelease' || name === 'SetMetadata') {
      return {
        parameters: ['string'],
        isAny: false,
        call: ([text]) => {
          const part = text as Bytes;
          if (name === 'SetPrerelease') {
            checkPrerelease(part);
            return this.#changed({ prerelease: part });
          }
          if (!/^[0-9A-Za-z.-]*$/.test(part)) {
            throw new FunctionError('invalid metadata string');
          }
          return this.#changed({ metadata: part });
        },
      };
    }
    const value = this.#plain(name);
    return value === undefined ? undefined : { parameters: [], isAny: false, call: () => value };
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
