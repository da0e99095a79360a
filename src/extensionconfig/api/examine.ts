import { copyOf, fieldAt, isJsonObject, type Json, type JsonObject, keyOfToken } from '../../kubernetes/index.ts';

/** One violation of the schema; `value` is that at the path, absent for `required`. */
export interface SchemaViolation {
  /** Empty for the last one of many, which only counts the others. */
  path: (string | number)[];
  problem: 'type' | 'required' | 'tooLong' | 'tooMany' | 'notSupported' | 'invalid';
  value?: unknown;
  /** What the schema requires, as a sentence without a subject: "must be at most 512 characters long". */
  message: string;
}

/** An error of the compiled schema, as ajv describes it. */
export interface SchemaError {
  /** JSON Pointer to the value. */
  instancePath: string;
  keyword: keyof typeof meanings;
  params: Readonly<Record<string, unknown>>;
}

export interface Examined {
  /** The object without values of a wrong type. */
  whole: Record<string, unknown>;
  /** `whole` without values that exceed a limit; the same object if there are none. */
  limited: Record<string, unknown>;
  violations: SchemaViolation[];
}

/** Maximum number of violations that are reported for one object: 100 wrong types, and 100 others. */
const maxViolations = 100;

type Meaning = (params: SchemaError['params']) => [SchemaViolation['problem'], message: string];

/** By the keyword: all that our schemas have. */
const meanings = {
  type: ({ type }) => ['type', `must be of type ${type}`],
  maxLength: ({ limit }) => ['tooLong', `must be at most ${limit} characters long`],
  maxItems: ({ limit }) => ['tooMany', `must have at most ${limit} items`],
  maxTotalBytes: ({ limit }) => ['tooLong', `must be at most ${limit} bytes, keys and values together`],
  required: () => ['required', 'must be set'],
  enum: ({ allowedValues }) => ['notSupported', `must be one of ${(allowedValues as string[]).join(', ')}`],
  minimum: ({ limit }) => ['invalid', `must be at least ${limit}`],
  minLength: ({ limit }) => ['invalid', `must have at least ${limit} characters`],
  pattern: ({ pattern }) => ['invalid', `must match ${pattern}`],
  minProperties: ({ limit }) => ['invalid', `must have at least ${limit} properties`],
  format: ({ format }) => ['invalid', `must be of format ${format}`],
} satisfies Record<string, Meaning>;

const limits: ReadonlySet<string> = new Set(['maxLength', 'maxItems', 'maxTotalBytes']);

const holderOf = (pointer: string) => pointer.slice(0, pointer.lastIndexOf('/'));
const keysOf = (pointer: string) => pointer.split('/').slice(1).map(keyOfToken);

function lookUp(object: Json, pointer: string): { value: Json | undefined; path: (string | number)[] } {
  let value: Json | undefined = object;
  const path = keysOf(pointer).map((key) => {
    const step = Array.isArray(value) ? Number(key) : key;
    value = fieldAt(value, step);
    return step;
  });
  return { value, path };
}

/** Whether a value has a wrong type, besides the error: enums are about values of any type, minimum and format about fractions. */
const hasWrongType = (keyword: string, value: unknown) =>
  keyword === 'enum' ? typeof value !== 'string' : typeof value === 'number' && !Number.isInteger(value);

/** A copy of the object without the values of these errors. Items of a list become empty, so that others keep their index. */
function without(object: JsonObject, errors: readonly SchemaError[]): JsonObject {
  if (errors.length === 0) {
    return object;
  }
  const copy = copyOf(object);
  let last: { pointer: string; holder: Json | undefined } = { pointer: '', holder: copy };
  for (const { instancePath, keyword, params } of errors) {
    const pointer = holderOf(instancePath);
    if (pointer !== last.pointer) {
      last = { pointer, holder: lookUp(copy, pointer).value };
    }
    const { holder } = last;
    const key = keyOfToken(instancePath.slice(pointer.length + 1));
    if (Array.isArray(holder)) {
      // Items of our lists are objects or strings.
      holder[Number(key)] = keyword === 'maxLength' || params.type === 'string' ? '' : {};
    } else if (isJsonObject(holder)) {
      delete holder[key];
    }
  }
  return copy;
}

function listed(object: JsonObject, errors: readonly SchemaError[], others: SchemaViolation['problem'], text: string) {
  const violations = errors.slice(0, maxViolations).map(({ instancePath, keyword, params }): SchemaViolation => {
    const { value, path } = lookUp(object, instancePath);
    const [problem, message] = meanings[keyword](params);
    return keyword === 'required'
      ? { path: [...path, String(params.missingProperty)], problem, message }
      : { path, problem, message, value };
  });
  const more = errors.length - maxViolations + 1;
  return more < 2 ? violations : violations.with(-1, { path: [], problem: others, message: `${more} more ${text}` });
}

/**
 * The violations of an object that its compiled schema finds, and the object without what has a wrong type or exceeds a
 * limit, in linear time. Nothing below a value of a wrong type, or over a limit, is another violation.
 */
export function examine(object: Record<string, unknown>, errors: readonly SchemaError[]): Examined {
  const given = object as JsonObject;
  const wrong = errors.filter(({ keyword }) => keyword === 'type');
  const over = errors.filter(({ keyword }) => limits.has(keyword));
  const unread = new Set(over.map(({ instancePath }) => instancePath));
  const isBelowUnread = (pointer: string): boolean => {
    const above = holderOf(pointer);
    return above !== '' && (unread.has(above) || isBelowUnread(above));
  };
  const isEcho = ({ instancePath, keyword }: SchemaError) =>
    (unread.size > 0 && (isBelowUnread(instancePath) || (unread.has(instancePath) && !limits.has(keyword)))) ||
    (keyword !== 'type' && hasWrongType(keyword, lookUp(given, instancePath).value));
  const reported = Map.groupBy(
    errors.filter((error) => !isEcho(error)),
    ({ keyword }) => keyword === 'type',
  );
  const whole = without(given, wrong);
  return {
    whole,
    limited: without(whole, over),
    violations: [
      ...listed(given, reported.get(true) ?? [], 'type', 'fields have a wrong type'),
      ...listed(given, reported.get(false) ?? [], 'invalid', 'fields do not fit the CustomResourceDefinition'),
    ],
  };
}
