import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { examine, type FormatCheck, type SchemaViolation } from './examine.ts';
import type { Version } from './names.ts';
import { type LimitedSchema, ownSchemaOf, totalBytes } from './own-schema.ts';
import type { ExtensionConfig } from './v1beta2.ts';

/** An object of either version as the rest of the program sees it. */
export interface Decoded {
  /**
   * The object. What has the wrong JSON type (or is null), and what is over a limit of its schema, is absent from it, or
   * empty where it is an array's item, so that the types are true and work on it is bounded. Both versions decode to the
   * same type: they differ only in conditions, which no rule reads.
   */
  object: ExtensionConfig;
  /** The same with what is over a limit, for the rules that must agree with a webhook that knows no limits. */
  whole: ExtensionConfig;
  /** Wrong types first; at most `maxViolations` of these, and as many others. */
  violations: readonly SchemaViolation[];
}

const none: readonly SchemaViolation[] = [];

/** Longest time, in characters: the CustomResourceDefinition sets no limit, and 35 say it to the nanosecond. */
const maxTimeLength = 128;

let validator: Ajv | undefined;

/** Where schemas are compiled: made when the first one is. */
function ajv(): Ajv {
  if (validator === undefined) {
    // The schemas are our own: checking them against JSON Schema's own schema would be half of the work.
    validator = new Ajv({ strict: false, logger: false, ownProperties: true, meta: false, validateSchema: false });
    formats.default(validator, ['int32', 'int64', 'byte', 'date-time']);
    const dateTime = validator.formats['date-time'];
    validator.addFormat('date-time', {
      type: 'string',
      validate: (text) => text.length <= maxTimeLength && checks((dateTime as { validate: unknown }).validate, text),
    });
    validator.addKeyword({
      keyword: 'maxTotalBytes',
      type: 'object',
      validate: (most: number, map: Record<string, unknown>) => totalBytes(map, most) <= most,
    });
  }
  return validator;
}

/** Whether a value is of a format, as the compiled schemas see it. */
export const isOfFormat: FormatCheck = (format, value) => {
  const known = ajv().formats[format];
  if (typeof known !== 'object' || known instanceof RegExp) {
    return typeof value !== 'string' || known === undefined || checks(known, value);
  }
  return typeof value !== (known.type ?? 'string') || checks(known.validate, value);
};

function checks(check: unknown, value: unknown): boolean {
  return check instanceof RegExp ? check.test(value as string) : (check as (value: unknown) => boolean)(value);
}

/** A schema, along which what is wrong is found, and the same compiled, which decides. */
interface VersionSchema {
  schema: LimitedSchema;
  fits: (object: unknown) => boolean;
}

const schemas = new Map<Version, VersionSchema>();

/** The schema of a version. It is compiled when it is first asked for: that takes 20 ms, and most programs need one. */
function schemaOf(version: Version): VersionSchema {
  let found = schemas.get(version);
  if (found === undefined) {
    const schema = ownSchemaOf(version);
    // That an object fits says nothing about its static type: `fits` is no type guard.
    found = { schema, fits: ajv().compile(schema) as (object: unknown) => boolean };
    schemas.set(version, found);
  }
  return found;
}

/** Compiles what the first object of a version would wait for. */
export function prepareDecoding(version: Version): void {
  schemaOf(version);
}

/** Whether an object fits the schema of a version. */
export function fitsSchema(object: Record<string, unknown>, version: Version): boolean {
  return schemaOf(version).fits(object);
}

/** The object with the metadata that its type promises: every object has some, and a decoder need not be told. */
function typed(object: Record<string, unknown>): ExtensionConfig {
  const { metadata } = object;
  const hasMetadata = typeof metadata === 'object' && metadata !== null;
  return (hasMetadata ? object : { ...object, metadata: {} }) as unknown as ExtensionConfig;
}

/**
 * Decodes a JSON object that claims to be an ExtensionConfig of `version`. Never throws. The input is not changed, and
 * is itself the result when it fits its schema. Time is linear in the size of the object.
 */
export function decodeExtensionConfig(object: Record<string, unknown>, version: Version): Decoded {
  const { fits, schema } = schemaOf(version);
  if (fits(object)) {
    const whole = typed(object);
    return { object: whole, whole, violations: none };
  }
  const { limited, whole, violations } = examine(object, schema, isOfFormat);
  const limitedConfig = typed(limited);
  return { object: limitedConfig, whole: whole === limited ? limitedConfig : typed(whole), violations };
}
