/**
 * How kubectl's parser (sigs.k8s.io/yaml, which contains go-yaml v2) interprets scalars. It uses the booleans of YAML
 * 1.1, but Go's notation of numbers, and keeps dates and times as strings.
 */

/** A scalar that kubectl rejects. The message continues "YAML: ". */
export class ScalarError extends Error {}

/** A value; of a 64-bit integer, all its digits. */
export interface Scalar {
  value: string | number | boolean | null;
  integer?: bigint;
}

const words = new Map<string, boolean | null | number>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, Number.NaN] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word) => [word, Number.POSITIVE_INFINITY] as const),
  ...['-.inf', '-.Inf', '-.INF'].map((word) => [word, Number.NEGATIVE_INFINITY] as const),
]);

/** strconv.ParseInt with base 0: 010 and 0o10 are 8. go-yaml itself reads `0b`, after which another sign may follow. */
const integer = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/;
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
/** strconv.ParseFloat, where an underscore is allowed only between digits. */
const floatFromPoint = /^\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$/;

/** More digits than any 64-bit integer has, in any base, plus some zeros. */
const maxIntegerLength = 100;

function parseInteger(text: string): bigint | undefined {
  const parts = text.length > maxIntegerLength ? null : integer.exec(text.replace(/^0b([-+])/, '$10b'));
  if (parts === null) {
    return undefined;
  }
  const [, sign, hex, binary, octal, decimal = '0'] = parts;
  const size = BigInt(
    hex !== undefined
      ? `0x${hex}`
      : binary !== undefined
        ? `0b${binary}`
        : octal !== undefined
          ? `0o${octal}`
          : decimal,
  );
  const value = sign === '-' ? -size : size;
  // Numbers that do not fit are tried as unsigned 64-bit integers.
  const max = sign === '' ? 2n ** 64n : 2n ** 63n;
  return value >= -(2n ** 63n) && value < max ? value : undefined;
}

/** Parses a number; undefined for any other text. */
function parseNumber(text: string): { value: number; integer?: bigint } | undefined {
  const first = text.charCodeAt(0);
  if (first === 0x2e) {
    const value = floatFromPoint.test(text) ? Number(text.replaceAll('_', '')) : Number.NaN;
    return Number.isFinite(value) ? { value } : undefined;
  }
  const plain = text.includes('_') ? text.replaceAll('_', '') : text;
  const whole = parseInteger(plain);
  if (whole !== undefined) {
    return { value: Number(whole), integer: whole };
  }
  const value = float.test(plain) ? Number(plain) : Number.NaN;
  return Number.isFinite(value) ? { value } : undefined;
}

function resolvePlain(text: string): Scalar {
  const word = words.get(text);
  if (word !== undefined) {
    return { value: word };
  }
  // As in go-yaml, the first character decides whether a text is tried as a number: not `_1`.
  return (/^[-+.0-9]/.test(text) ? parseNumber(text) : undefined) ?? { value: text };
}

const tagPrefix = 'tag:yaml.org,2002:';
const timestamp = /^\d{4}-\d\d?-\d\d?(?:(?:[Tt]| )\d\d?:\d\d?:\d\d?(?:\.\d{1,9})?(?:Z|[-+]\d\d:\d\d)?)?$/;
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * The value of a scalar without quotes: `yes` is true, `0o17` is 15, `e1` is a string; may be infinite or NaN. With an
 * explicit tag, given by its full name, quotes do not matter; an unknown tag results in a string.
 *
 * @throws {ScalarError} when the text does not match the tag.
 */
export function resolveScalar(text: string, tag?: string): Scalar {
  if (tag === undefined) {
    return resolvePlain(text);
  }
  const type = tag.startsWith(tagPrefix) ? tag.slice(tagPrefix.length) : '';
  if (type === 'binary') {
    const packed = text.replaceAll(/[\r\n]/g, '');
    if (packed.length % 4 !== 0 || !base64.test(packed)) {
      throw new ScalarError('the text after !!binary is not base64');
    }
    return { value: new TextDecoder().decode(Buffer.from(packed, 'base64')) };
  }
  if (type === 'timestamp' && !timestamp.test(text)) {
    throw new ScalarError('the text after !!timestamp is not a date or a time');
  }
  const { value, integer: whole } = resolvePlain(text);
  switch (type) {
    case 'bool':
    case 'null':
    case 'int':
    case 'float': {
      const actual =
        value === null ? 'null' : typeof value === 'boolean' ? 'bool' : whole === undefined ? typeof value : 'int';
      if (actual !== type && !(type === 'float' && typeof value === 'number')) {
        throw new ScalarError(`the text after !!${type} cannot be read as one`);
      }
      return type === 'float' || whole === undefined ? { value } : { value, integer: whole };
    }
    default:
      return { value: text };
  }
}

/** Go's strconv.FormatFloat with format 'g', shortest precision and 32 bits. */
function formatFloat32(value: number): string {
  const single = Math.fround(value);
  if (single === Number.POSITIVE_INFINITY) {
    return '.inf';
  }
  if (single === Number.NEGATIVE_INFINITY) {
    return '-.inf';
  }
  if (Number.isNaN(single)) {
    return '.nan';
  }
  if (single === 0) {
    return Object.is(single, -0) ? '-0' : '0';
  }
  let digits = 1;
  while (digits < 9 && Math.fround(Number(single.toExponential(digits - 1))) !== single) {
    digits++;
  }
  const [mantissa = '', exponent = ''] = single.toExponential(digits - 1).split('e');
  const power = Number(exponent);
  // Go decides on the format as if there were 6 digits.
  if (power < -4 || power >= 6) {
    return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
  }
  return single.toFixed(Math.max(digits - 1 - power, 0));
}

/**
 * A scalar as the key of a map: keys in Kubernetes objects are strings, so `1` is "1" and `yes` is "true".
 *
 * @throws {ScalarError} for null and for integers of more than 63 bits, which kubectl rejects.
 */
export function keyText({ value, integer: whole }: Scalar): string {
  if (value === null || (whole !== undefined && whole >= 2n ** 63n)) {
    throw new ScalarError(`the key ${value === null ? 'null' : String(whole)} is not text; put it in quotes`);
  }
  return whole !== undefined ? String(whole) : typeof value === 'number' ? formatFloat32(value) : String(value);
}
