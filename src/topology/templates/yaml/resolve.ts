import { Buffer } from 'node:buffer';
import { textOf } from '../../../base/go-text/index.ts';
import { type PlainValue, plainValue } from '../../../kubernetes/manifests/index.ts';
import { YamlError } from './scan.ts';

const tagPrefix = 'tag:yaml.org,2002:';

const typeNames: Readonly<Record<string, string>> = {
  bigint: 'int',
  boolean: 'bool',
  number: 'float',
  object: 'null',
  string: 'str',
};

const timestamp =
  /^[0-9]{4}-[01]?[0-9]-[0-3]?[0-9](?:[Tt ][0-2]?[0-9]:[0-5]?[0-9]:[0-5]?[0-9](?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?$/;

function decodedBinary(text: string): string {
  const packed = text.replaceAll(/[\r\n]/g, '');
  if (packed.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(packed)) {
    throw new YamlError('yaml: !!binary value contains invalid base64 data');
  }
  return textOf(Buffer.from(packed, 'base64').toString('latin1'));
}

/**
 * The value of a scalar, as go-yaml v2 reads it.
 *
 * @throws {YamlError} when it does not have the type that its tag names.
 */
export function resolveScalar(text: string, tag: string, isPlain: boolean): PlainValue {
  if (tag === '') {
    return isPlain ? plainValue(text) : text;
  }
  const type = tag.startsWith(tagPrefix) ? tag.slice(tagPrefix.length) : '';
  if (type === 'binary') {
    return decodedBinary(text);
  }
  if (!['bool', 'int', 'float', 'null', 'timestamp'].includes(type) || (type === 'timestamp' && timestamp.test(text))) {
    return text;
  }
  const value = plainValue(text);
  if (type === typeNames[typeof value]) {
    return value;
  }
  if (type === 'float' && typeof value === 'bigint' && value < 2n ** 63n) {
    return Number(value);
  }
  throw new YamlError(`yaml: cannot decode !!${typeNames[typeof value]} \`${text}\` as a !!${type}`);
}
