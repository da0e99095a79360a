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

function versionText({ major, minor, patch, prerelease, metadata }: VersionParts): Bytes {
  return `${major}.${minor}.${patch}${prerelease === '' ? '' : `-${prerelease}`}${metadata === '' ? '' : `+${metadata}`}`;
}

const ownType = '*semver.Version';

/** A version, as the function `semver` returns it (a pointer in Go) or one of its methods (not a pointer). */
export class Version extends Struct {
  readonly kind: 'ptr' | 'struct';
  readonly parts: VersionParts;
  readonly original: Bytes;

  constructor(parts: VersionParts, original: Bytes, isPointer = true) {
    super();
    this.parts = parts;
    this.original = original;
    this.kind = isPointer ? 'ptr' : 'struct';
  }

  get type(): string {
    return this.kind === 'ptr' ? ownType : 'semver.Version';
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

  #changed(change: Partial<VersionParts>): Version {
    const parts = { ...this.parts, ...change };
    return new Version(parts, `${this.original.startsWith('v') ? 'v' : ''}${versionText(parts)}`, false);
  }

  #incremented(name: string): Version {
    const { major, minor, patch, prerelease } = this.parts;
    const release = { prerelease: '', metadata: '' };
    switch (name) {
      case 'IncMajor':
        return this.#changed({ major: major + 1n, minor: 0n, patch: 0n, ...release });
      case 'IncMinor':
        return this.#changed({ minor: minor + 1n, patch: 0n, ...release });
      default:
        return this.#changed({ patch: prerelease === '' ? patch + 1n : patch, ...release });
    }
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
    const changed = (change: (text: Bytes) => Partial<VersionParts>): Callable => ({
      parameters: ['string'],
      isAny: false,
      call: ([text]) => this.#changed(change(text as Bytes)),
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
      case 'IncMajor':
      case 'IncMinor':
      case 'IncPatch':
        return plain(this.#incremented(name));
      case 'SetPrerelease':
        return changed((prerelease) => {
          checkPrerelease(prerelease);
          return { prerelease };
        });
      case 'SetMetadata':
        return changed((metadata) => {
          if (!/^[0-9A-Za-z.-]*$/.test(metadata)) {
            throw new FunctionError('invalid metadata string');
          }
          return { metadata };
        });
    }
    if (this.kind !== 'ptr') {
      return undefined;
    }
    switch (name) {
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
      default:
        return undefined;
    }
  }
}
