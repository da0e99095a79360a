import { type Bytes, quoted } from '../../../base/go-text/index.ts';
import { compareParts } from '../../../runtimehooks/index.ts';
import { FunctionError } from '../budget.ts';
import { parseUint64 } from './numbers.ts';
import { type Callable, Integer, type Operand, Struct, type Value } from './values.ts';

/** Numbers of a version with what follows them. */
export interface VersionParts {
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

export function versionText({ major, minor, patch, prerelease, metadata }: VersionParts): Bytes {
  return `${major}.${minor}.${patch}${prerelease === '' ? '' : `-${prerelease}`}${metadata === '' ? '' : `+${metadata}`}`;
}

const ownType = '*semver.Version';

/** A version, as the function `semver` returns it. */
export class Version extends Struct {
  readonly type = ownType;
  readonly kind = 'ptr';
  readonly parts: VersionParts;
  readonly original: Bytes;

  constructor(parts: VersionParts, original: Bytes) {
    super();
    this.parts = parts;
    this.original = original;
  }

  text(): Bytes {
    return versionText(this.parts);
  }

  json(): Value {
    return this.text();
  }

  fields() {
    const { major, minor, patch, prerelease, metadata } = this.parts;
    return [
      { name: 'major', type: 'uint64', value: new Integer('uint64', major) },
      { name: 'minor', type: 'uint64', value: new Integer('uint64', minor) },
      { name: 'patch', type: 'uint64', value: new Integer('uint64', patch) },
      { name: 'pre', type: 'string', value: prerelease },
      { name: 'metadata', type: 'string', value: metadata },
      { name: 'original', type: 'string', value: this.original },
    ];
  }

  equals(other: Struct): boolean {
    return other instanceof Version && this.original === other.original && this.text() === other.text();
  }

  method(name: string): Callable | undefined {
    const { parts } = this;
    const plain = (value: Operand): Callable => ({ parameters: [], isAny: false, call: () => value });
    const compared = (decide: (order: number) => Operand): Callable => ({
      parameters: [ownType],
      isAny: false,
      call([other]) {
        if (!(other instanceof Version)) {
          throw new FunctionError('runtime error: invalid memory address or nil pointer dereference');
        }
        return decide(compareVersions(parts, other.parts));
      },
    });
    switch (name) {
      case 'Major':
        return plain(new Integer('uint64', parts.major));
      case 'Minor':
        return plain(new Integer('uint64', parts.minor));
      case 'Patch':
        return plain(new Integer('uint64', parts.patch));
      case 'Prerelease':
        return plain(parts.prerelease);
      case 'Metadata':
        return plain(parts.metadata);
      case 'String':
        return plain(this.text());
      case 'Original':
        return plain(this.original);
      case 'Compare':
        return compared((order) => BigInt(order));
      case 'Equal':
        return compared((order) => order === 0);
      case 'LessThan':
        return compared((order) => order < 0);
      case 'LessThanEqual':
        return compared((order) => order <= 0);
      case 'GreaterThan':
        return compared((order) => order > 0);
      case 'GreaterThanEqual':
        return compared((order) => order >= 0);
      case 'IncMajor':
      case 'IncMinor':
      case 'IncPatch':
      case 'SetPrerelease':
      case 'SetMetadata':
        throw new FunctionError(`${name} of a version is not computed here`);
      default:
        return undefined;
    }
  }
}
