import { Buffer } from 'node:buffer';
import { bytesOf, textOf } from '../../../base/go-text/index.ts';
import { FunctionError } from '../budget.ts';
import { formatFloat, parseFloat64, parseInt64, parseUint64 } from '../values/numbers.ts';
import { parseTime } from '../values/time.ts';
import { YamlError } from './problem.ts';

/** A scalar's value; an integer has all its digits. */
export type YamlScalar = string | number | bigint | boolean | null;

const tagPrefix = 'tag:yaml.org,2002:';

const words = new Map<string, boolean | null | number>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, Number.NaN] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word) => [word, Number.POSITIVE_INFINITY] as const),
  ...['-.inf', '-.Inf', '-.INF'].map((word) => [word, Number.NEGATIVE_INFINITY] as const),
]);

const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

function numberOf(text: string): number | bigint | undefined {
  if (text.startsWith('.')) {
    const value = parseFloat64(text);
    return typeof value === 'number' ? value : undefined;
  }
  const plain = text.replaceAll('_', '');
  for (const integer of [parseInt64(plain, 0), parseUint64(plain, 0)]) {
    if (typeof integer === 'bigint') {
      return integer;
    }
  }
  if (float.test(plain)) {
    const value = parseFloat64(plain);
    return typeof value === 'number' ? value : undefined;
  }
  // A second sign may follow 0b.
  const [, sign = '', digits = ''] = /^(-?)0b([+-][01]{1,63})$/.exec(plain) ?? [];
  if (digits !== '' && sign === '') {
    const size = BigInt(`0b${digits.slice(1)}`);
    return digits.startsWith('-') ? -size : size;
  }
  return undefined;
}

function plainValue(text: string): YamlScalar {
  const word = words.get(text);
  if (word !== undefined) {
    return word;
  }
  return (/^[-+.0-9]/.test(text) ? numberOf(text) : undefined) ?? text;
}

function nameOf(value: YamlScalar): string {
  return value === null
    ? 'null'
    : typeof value === 'boolean'
      ? 'bool'
      : typeof value === 'bigint'
        ? 'int'
        : typeof value === 'number'
          ? 'float'
          : 'str';
}

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
 * The value of a scalar, as go-yaml v2 reads it: `y` and `on` are booleans, 012 is octal, dates are text.
 *
 * @throws {YamlError} when it does not have the type that its tag names.
 */
export function resolveScalar({ text, tag, isPlain }: { text: string; tag: string; isPlain: boolean }): YamlScalar {
  if (tag === '') {
    return isPlain ? plainValue(text) : text;
  }
  const type = tag.startsWith(tagPrefix) ? tag.slice(tagPrefix.length) : '';
  if (type === 'binary') {
    return decodedBinary(text);
  }
  if (!['bool', 'int', 'float', 'null', 'timestamp'].includes(type)) {
    return text;
  }
  if (type === 'timestamp') {
    if (isTimestamp(text)) {
      return text;
    }
  }
  const value = plainValue(text);
  if (type === nameOf(value)) {
    return value;
  }
  if (type === 'float' && typeof value === 'bigint' && value < 2n ** 63n) {
    return Number(value);
  }
  throw new YamlError(`yaml: cannot decode !!${nameOf(value)} \`${text}\` as a !!${type}`);
}

/** The shortest text of a number with 32 bits, as strconv.FormatFloat with `g`. */
function float32Text(value: number): string {
  if (!Number.isFinite(value)) {
    return Number.isNaN(value) ? '.nan' : value > 0 ? '.inf' : '-.inf';
  }
  const single = Math.fround(value);
  if (!Number.isFinite(single)) {
    return single > 0 ? '.inf' : '-.inf';
  }
  let digits = 1;
  while (digits < 9 && Math.fround(Number(single.toPrecision(digits))) !== single) {
    digits++;
  }
  return formatFloat(Number(single.toPrecision(digits)), 'g', -1);
}

/** A scalar as a key of JSON: undefined for those that sigs.k8s.io/yaml refuses. */
export function keyText(key: YamlScalar): string | undefined {
  if (typeof key === 'string') {
    return key;
  }
  if (key === null || (typeof key === 'bigint' && key >= 2n ** 63n)) {
    return undefined;
  }
  return typeof key === 'number' ? float32Text(key) : String(key);
}
