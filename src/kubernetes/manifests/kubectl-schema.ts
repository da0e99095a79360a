import { type DocumentOptions, type ParseOptions, type Scalar, type ScalarTag, Schema, type SchemaOptions } from 'yaml';

// How kubectl's parser (sigs.k8s.io/yaml, which contains go-yaml v2) reads plain scalars: the booleans of YAML 1.1, Go's
// notation of numbers, and dates and times as strings.

const nulls = /^(?:~|null|Null|NULL)?$/;
const yes = /^(?:[yY]|yes|Yes|YES|true|True|TRUE|on|On|ON)$/;
const bools = /^(?:[yYnN]|yes|Yes|YES|true|True|TRUE|on|On|ON|no|No|NO|false|False|FALSE|off|Off|OFF)$/;
const special = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
/** strconv.ParseInt with base 0: 010 and 0o10 are 8. go-yaml itself reads `0b`, after which another sign may follow. */
const integer = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/;
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
/** strconv.ParseFloat, where an underscore is allowed only between digits. */
const floatFromPoint = /^\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$/;
/** What may be a number, with underscores that are ignored; what is none after all remains a string. */
const numberLike =
  /^(?:[-+]_*)?(?:0_*[xX][0-9a-fA-F_]+|0_*[bB][-+]?[01_]+|0_*[oO][0-7_]+|[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE](?:_*[-+])?[0-9_]+)?|\.[0-9_]+(?:[eE](?:_*[-+])?[0-9_]+)?)$/;
/** A string for kubectl, but not for every parser: it gets quotes when it is written. */
const time = /^[0-9]{4}-[0-9]/;

/** More digits than any 64-bit integer has, in any base, plus some zeros. */
const maxIntegerLength = 100;

function parseInteger(text: string): bigint | undefined {
  const parts = text.length > maxIntegerLength ? null : integer.exec(text.replace(/^0b([-+])/, '$10b'));
  if (parts === null) {
    return undefined;
  }
  const [, sign, hex, binary, octal, decimal = '0'] = parts;
  const digits = hex ? `0x${hex}` : binary ? `0b${binary}` : octal ? `0o${octal}` : decimal;
  const value = BigInt(digits) * (sign === '-' ? -1n : 1n);
  // Numbers that do not fit are tried as unsigned 64-bit integers.
  const max = sign === '' ? 2n ** 64n : 2n ** 63n;
  return value >= -(2n ** 63n) && value < max ? value : undefined;
}

function parseNumber(text: string): number | bigint | undefined {
  const plain = text.startsWith('.') ? text : text.replaceAll('_', '');
  const value = parseInteger(plain);
  if (value !== undefined) {
    return value;
  }
  const isFloat = plain.startsWith('.') ? floatFromPoint.test(plain) : float.test(plain);
  const size = isFloat ? Number(plain.replaceAll('_', '')) : Number.NaN;
  return Number.isFinite(size) ? size : undefined;
}

/** The value of a scalar; an integer has all its digits. */
type PlainValue = string | number | bigint | boolean | null;

/** The value of a plain scalar: `y` and `on` are booleans, 012 is octal, dates are text. */
export function plainValue(text: string): PlainValue {
  if (nulls.test(text)) {
    return null;
  }
  if (bools.test(text)) {
    return yes.test(text);
  }
  if (special.test(text)) {
    return /n$/i.test(text) ? Number.NaN : text.startsWith('-') ? -Infinity : Infinity;
  }
  return numberLike.test(text) ? (parseNumber(text) ?? text) : text;
}

const scalarTag = (name: string, test: RegExp, identify: (value: unknown) => boolean): ScalarTag => ({
  tag: `tag:yaml.org,2002:${name}`,
  default: true,
  test,
  identify,
  resolve(text) {
    const value = plainValue(text);
    return typeof value === 'bigint' ? Number(value) : value;
  },
  // Scalars are written back as they were.
  stringify: ({ source, value }: Scalar) => source ?? JSON.stringify(value),
});
const isNumber = (value: unknown) => typeof value === 'number';

const tags: ScalarTag[] = [
  scalarTag('null', nulls, (value) => value === null),
  scalarTag('bool', bools, (value) => typeof value === 'boolean'),
  scalarTag('int', numberLike, isNumber),
  scalarTag('float', numberLike, isNumber),
  scalarTag('float', special, isNumber),
  { tag: 'tag:yaml.org,2002:timestamp', default: true, test: time, resolve: (text) => text },
];

/** How `yaml` reads and writes documents as kubectl does. */
export const kubectlOptions = {
  // Made once, since a file may have thousands of small documents.
  schema: new Schema({ schema: 'failsafe', customTags: tags, resolveKnownTags: false, merge: false }),
  // Its check takes quadratic time.
  uniqueKeys: false,
  logLevel: 'silent',
  prettyErrors: false,
} satisfies ParseOptions & DocumentOptions & SchemaOptions;

/** Go's strconv.FormatFloat with format 'g', shortest precision and 32 bits. */
function formatFloat32(value: number): string {
  const single = Math.fround(value);
  if (!Number.isFinite(single)) {
    return Number.isNaN(single) ? '.nan' : single > 0 ? '.inf' : '-.inf';
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

/** The key that a scalar is in Kubernetes; undefined for null and integers of more than 63 bits, as for kubectl. */
export function keyText({ value: read, source = '' }: Scalar): string | undefined {
  // The integers of `yaml` have lost digits.
  const value = typeof read === 'number' ? plainValue(source) : (read as PlainValue);
  if (value === null || (typeof value === 'bigint' && value >= 2n ** 63n)) {
    return undefined;
  }
  return typeof value === 'number' ? formatFloat32(value) : String(value);
}
