import { Buffer } from 'node:buffer';
import { bytesOf, textOf } from '../../../base/go-text/index.ts';
import { type PlainValue, plainValue } from '../../../kubernetes/manifests/index.ts';
import { FunctionError } from '../budget.ts';
import { parseTime } from '../values/time.ts';
import { YamlError } from './scan.ts';

const tagPrefix = 'tag:yaml.org,2002:';

const typeNames: Readonly<Record<string, string>> = {
  bigint: 'int',
  boolean: 'bool',
  number: 'float',
  object: 'null',
  string: 'str',
};

const timestamps = [
  '2006-1-2T15:4:5.999999999Z07:00',
  '2006-1-2t15:4:5.999999999Z07:00',
  '2006-1-2 15:4:5.999999999',
  '2006-1-2',
];

function isTimestamp(text: string): boolean {
  return (
    /^[0-9]{4}-/.test(text) &&
    timestamps.some((layout) => {
      try {
        parseTime(layout, bytesOf(text));
        return true;
      } catch (error) {
        if (error instanceof FunctionError) {
          return false;
        }
        throw error;
      }
    })
  );
}

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
  if (!['bool', 'int', 'float', 'null', 'timestamp'].includes(type) || (type === 'timestamp' && isTimestamp(text))) {
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
