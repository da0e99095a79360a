import { Ajv, type ErrorObject } from 'ajv';
import formats from 'ajv-formats';
import { type OpenApiSchema, openApiSchemaOf } from './crd.ts';
import type { Version } from './names.ts';
import type { ExtensionConfig } from './v1beta2.ts';

/** One place where an object does not fit its version's schema. */
export interface SchemaViolation {
  path: (string | number)[];
  problem: 'type' | 'required' | 'tooLong' | 'tooMany' | 'notSupported' | 'invalid';
  /** The value there; absent for `required`. */
  value?: unknown;
  /** What the schema asks for, as a sentence without subject: "must be at most 512 characters long". */
  message: string;
}

/** An object of either version as the rest of the program sees it. */
export interface Decoded {
  /**
   * The object. What has the wrong JSON type (or is null) is absent from it, or empty where it is an array's item, so
   * that the types are true. Both versions decode to the same type: they differ only in conditions, which no rule reads.
   */
  object: ExtensionConfig;
  /** In the order of the schema's checks; at most `maxViolations`. */
  violations: SchemaViolation[];
}

/** Most violations that are reported of one object: a user fixes no more at once, and the answer stays small. */
export const maxViolations = 100;

/**
 * Most values that an object with a violation may have to be examined in full: each can be a violation of its own, and
 * this bounds time and memory. A full ExtensionConfig (512 handlers, 32 conditions) has some 4,000.
 */
const maxValues = 20_000;

const metadataSchema: OpenApiSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    generateName: { type: 'string' },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    deletionTimestamp: { type: 'string' },
  },
};

/** A compiled schema that is no type guard: that an object fits says nothing about its static type. */
interface Check {
  (value: unknown): boolean;
  errors?: ErrorObject[] | null;
}

function compile(version: Version, allErrors: boolean): Check {
  const ajv = new Ajv({ allErrors, strict: false, verbose: true, logger: false, ownProperties: true });
  formats.default(ajv, ['int32', 'int64', 'byte', 'date-time']);
  const schema = openApiSchemaOf(version);
  return ajv.compile({ ...schema, properties: { ...schema.properties, metadata: metadataSchema } }) as Check;
}

/** A function of the version that compiles when it is first asked: 20 ms each, and most programs need one of the four. */
function validators(allErrors: boolean): (version: Version) => Check {
  const compiled = new Map<Version, Check>();
  return (version) => {
    let check = compiled.get(version);
    if (check === undefined) {
      check = compile(version, allErrors);
      compiled.set(version, check);
    }
    return check;
  };
}

/** The validator that stops at the first error, and the one that finds them all. */
const firstError = validators(false);
const everyError = validators(true);

/** Compiles what the first object of a version would wait for. */
export function prepareDecoding(version: Version): void {
  firstError(version);
}

function pathOf(object: unknown, error: ErrorObject): (string | number)[] {
  const path: (string | number)[] = [];
  let at = object;
  for (const token of error.instancePath.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(at) ? Number(key) : key);
    at = (at as Record<string, unknown>)[key];
  }
  if (error.keyword === 'required') {
    path.push((error.params as { missingProperty: string }).missingProperty);
  }
  return path;
}

const nouns: Record<string, string> = {
  maxLength: 'characters',
  minLength: 'characters',
  maxItems: 'items',
  minItems: 'items',
  maxProperties: 'properties',
  minProperties: 'properties',
};

function violationOf(object: unknown, error: ErrorObject): SchemaViolation {
  const path = pathOf(object, error);
  const { keyword, params } = error;
  switch (keyword) {
    case 'required':
      return { path, problem: 'required', message: 'must be set' };
    case 'type':
      return { path, problem: 'type', value: error.data, message: `must be of type ${params.type}` };
    case 'enum':
      return {
        path,
        problem: 'notSupported',
        value: error.data,
        message: `must be one of ${(params.allowedValues as unknown[]).join(', ')}`,
      };
    case 'maxLength':
      return {
        path,
        problem: 'tooLong',
        value: error.data,
        message: `must be at most ${params.limit} characters long`,
      };
    case 'maxItems':
    case 'maxProperties':
      return {
        path,
        problem: 'tooMany',
        value: error.data,
        message: `must have at most ${params.limit} ${nouns[keyword]}`,
      };
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return {
        path,
        problem: 'invalid',
        value: error.data,
        message: `must have at least ${params.limit} ${nouns[keyword]}`,
      };
    case 'minimum':
      return { path, problem: 'invalid', value: error.data, message: `must be at least ${params.limit}` };
    case 'maximum':
      return { path, problem: 'invalid', value: error.data, message: `must be at most ${params.limit}` };
    case 'format':
      return { path, problem: 'invalid', value: error.data, message: `must be of format ${params.format}` };
    case 'pattern':
      return { path, problem: 'invalid', value: error.data, message: `must match ${params.pattern}` };
    default:
      return { path, problem: 'invalid', value: error.data, message: error.message ?? `must satisfy ${keyword}` };
  }
}

/** Empty value of a JSON type, for an array's item that must keep its index. */
function emptyOf(wanted: unknown): unknown {
  return wanted === 'object' ? {} : wanted === 'array' ? [] : wanted === 'string' ? '' : 0;
}

/** Takes everything of a wrong type out of a copy. Deepest paths first, so that shallower ones are still there. */
function withoutWrongTypes(object: unknown, errors: readonly ErrorObject[]): Record<string, unknown> {
  const copy = structuredClone(object) as Record<string, unknown>;
  for (const error of errors.toSorted((a, b) => b.instancePath.length - a.instancePath.length)) {
    const path = pathOf(object, error);
    const last = path.pop();
    if (last === undefined) {
      continue;
    }
    const parent = path.reduce<unknown>((at, key) => (at as Record<string | number, unknown>)[key], copy);
    if (Array.isArray(parent)) {
      parent[last as number] = emptyOf(error.params.type);
    } else {
      delete (parent as Record<string, unknown>)[last];
    }
  }
  return copy;
}

/** The object with the metadata that its type promises: every object has some, and a decoder need not be told. */
function typed(object: Record<string, unknown>): ExtensionConfig {
  const { metadata } = object;
  const hasMetadata = typeof metadata === 'object' && metadata !== null;
  return (hasMetadata ? object : { ...object, metadata: {} }) as unknown as ExtensionConfig;
}

/** Whether a value holds more than `maxValues` values, at any depth. */
function isTooLarge(value: unknown): boolean {
  let left = maxValues;
  const pending: unknown[] = [value];
  while (pending.length > 0 && left > 0) {
    const next = pending.pop();
    if (typeof next === 'object' && next !== null) {
      const children = Object.values(next);
      left -= children.length;
      if (left > 0) {
        pending.push(...children);
      }
    }
  }
  return left <= 0;
}

/**
 * Decodes a JSON object that claims to be an ExtensionConfig of `version`. Never throws. The input is not changed, and
 * is itself the result when every type in it is right.
 */
export function decodeExtensionConfig(object: Record<string, unknown>, version: Version): Decoded {
  const first = firstError(version);
  if (first(object)) {
    return { object: typed(object), violations: [] };
  }
  if (isTooLarge(object)) {
    return {
      object: { apiVersion: String(object.apiVersion), kind: String(object.kind), metadata: {} },
      violations: [
        { path: [], problem: 'type', message: `must have at most ${maxValues} values to be examined further` },
        ...(first.errors ?? []).map((error) => violationOf(object, error)),
      ],
    };
  }
  const all = everyError(version);
  all(object);
  const errors = all.errors ?? [];
  const wrongTypes = errors.filter(({ keyword }) => keyword === 'type');
  return {
    object: typed(wrongTypes.length === 0 ? object : withoutWrongTypes(object, wrongTypes)),
    violations: errors.slice(0, maxViolations).map((error) => violationOf(object, error)),
  };
}
