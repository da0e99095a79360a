import { charactersIn } from '../../base/index.ts';
import { hasMoreBytes, isJsonObject, type Json, setOwn } from '../../kubernetes/index.ts';
import type { LimitedSchema } from './crd.ts';
import { isOfFormat } from './formats.ts';

/** One violation of the schema of an object's version. */
export interface SchemaViolation {
  /** Empty for the last one of many, which only counts the others. */
  path: (string | number)[];
  problem: 'type' | 'required' | 'tooLong' | 'tooMany' | 'notSupported' | 'invalid';
  /** The value at the path; absent for `required`. */
  value?: unknown;
  /** What the schema requires, as a sentence without a subject: "must be at most 512 characters long". */
  message: string;
}

/** The result of examining an object. */
export interface Examined {
  /** The object without values of a wrong type. */
  whole: Record<string, unknown>;
  /** `whole` without values that exceed a limit; the same object if there are none. */
  limited: Record<string, unknown>;
  violations: SchemaViolation[];
}

/**
 * Maximum number of violations that are reported for one object: 100 wrong types, and 100 others. Users do not fix more
 * at once, and the response stays small.
 */
export const maxViolations = 100;

/** Stands for a value that is dropped. */
const absent = Symbol('absent');

/** The violations of one kind: the first ones, and the total number. */
class ViolationList {
  readonly #listed: SchemaViolation[] = [];
  #count = 0;
  readonly #what: string;

  constructor(what: string) {
    this.#what = what;
  }

  add(path: readonly (string | number)[], problem: SchemaViolation['problem'], message: string, value?: unknown): void {
    this.#count += 1;
    if (this.#listed.length < maxViolations) {
      this.#listed.push({ path: [...path], problem, message, ...(value === undefined ? {} : { value }) });
    }
  }

  list(problem: 'type' | 'invalid'): SchemaViolation[] {
    if (this.#count <= maxViolations) {
      return this.#listed;
    }
    const more = this.#count - maxViolations + 1;
    return this.#listed.with(-1, { path: [], problem, message: `${more} more ${this.#what}` });
  }
}

function hasType(value: unknown, type: LimitedSchema['type']): boolean {
  switch (type) {
    case 'object':
      return isJsonObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'string':
      return typeof value === 'string';
  }
}

const emptyObject = Object.freeze({});
/** Stands for an item of another type, whose index must be kept: items of our lists are objects or strings. */
const emptyItem = ({ type }: LimitedSchema) => (type === 'string' ? '' : emptyObject);

/** Whether a string has more than `limit` characters: code points, as for the API server, of at most two code units. */
function isLongerThan(text: string, limit: number): boolean {
  return text.length > limit && charactersIn(text.slice(0, 2 * (limit + 1))) > limit;
}

/** One traversal of an object along its schema. Valid values are shared with the original. */
class SchemaWalk {
  readonly types = new ViolationList('fields have a wrong type');
  readonly limits = new ViolationList('fields do not fit the CustomResourceDefinition');
  readonly #onlyTypes: boolean;
  readonly #path: (string | number)[] = [];
  hasOverLimit = false;

  constructor(onlyTypes: boolean) {
    this.#onlyTypes = onlyTypes;
  }

  /** The value without what must be dropped, or `absent`. */
  at(value: unknown, schema: LimitedSchema): unknown {
    if (!hasType(value, schema.type)) {
      this.types.add(this.#path, 'type', `must be of type ${schema.type}`, value);
      return absent;
    }
    if (!this.#onlyTypes) {
      if (this.#isOverLimit(value, schema)) {
        return absent;
      }
      this.#checkRest(value, schema);
    }
    if (Array.isArray(value)) {
      return schema.items === undefined ? value : this.#items(value, schema.items);
    }
    return isJsonObject(value) ? this.#properties(value, schema) : value;
  }

  #below(key: string | number, value: unknown, schema: LimitedSchema): unknown {
    this.#path.push(key);
    const rest = this.at(value, schema);
    this.#path.pop();
    return rest;
  }

  #items(value: unknown[], schema: LimitedSchema): unknown[] {
    let copy: unknown[] | undefined;
    for (let index = 0; index < value.length; index++) {
      const item = value[index];
      const rest = this.#below(index, item, schema);
      if (rest !== item) {
        copy ??= value.slice();
        copy[index] = rest === absent ? emptyItem(schema) : rest;
      }
    }
    return copy ?? value;
  }

  #properties(value: Record<string, unknown>, schema: LimitedSchema): Record<string, unknown> {
    const { properties = {}, additionalProperties: others } = schema;
    const keys = Object.keys(value);
    let copy: Record<string, unknown> | undefined;
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at] as string;
      const field = value[key];
      const fieldSchema = Object.hasOwn(properties, key) ? properties[key] : others;
      const rest = fieldSchema === undefined ? field : this.#below(key, field, fieldSchema);
      if (rest !== field && copy === undefined) {
        copy = {};
        for (const before of keys.slice(0, at)) {
          setOwn(copy, before, value[before]);
        }
      }
      if (copy !== undefined && rest !== absent) {
        setOwn(copy, key, rest);
      }
    }
    return copy ?? value;
  }

  /** Whether a value exceeds a limit; adds the violation. A schema has only limits of its type. */
  #isOverLimit(value: unknown, { maxLength, maxItems = Infinity, maxTotalBytes }: LimitedSchema): boolean {
    if (maxLength !== undefined && isLongerThan(value as string, maxLength)) {
      return this.#addLimit('tooLong', `must be at most ${maxLength} characters long`, value);
    }
    if ((value as unknown[]).length > maxItems) {
      return this.#addLimit('tooMany', `must have at most ${maxItems} items`, value);
    }
    return (
      maxTotalBytes !== undefined &&
      hasMoreBytes(value as Record<string, unknown>, maxTotalBytes) &&
      this.#addLimit('tooLong', `must be at most ${maxTotalBytes} bytes, keys and values together`, value)
    );
  }

  #addLimit(problem: 'tooLong' | 'tooMany', message: string, value: unknown): true {
    this.limits.add(this.#path, problem, message, value);
    this.hasOverLimit = true;
    return true;
  }

  #checkRest(value: unknown, schema: LimitedSchema): void {
    const { enum: values, minimum, minLength, pattern, minProperties, required = [], format } = schema;
    if (values !== undefined && !values.includes(value as Json)) {
      this.limits.add(this.#path, 'notSupported', `must be one of ${values.join(', ')}`, value);
    }
    if (minimum !== undefined && (value as number) < minimum) {
      this.#addInvalid(`must be at least ${minimum}`, value);
    }
    if (minLength !== undefined && !isLongerThan(value as string, minLength - 1)) {
      this.#addInvalid(`must have at least ${minLength} characters`, value);
    }
    if (pattern !== undefined && !new RegExp(pattern, 'u').test(value as string)) {
      this.#addInvalid(`must match ${pattern}`, value);
    }
    if (minProperties !== undefined && Object.keys(value as object).length < minProperties) {
      this.#addInvalid(`must have at least ${minProperties} properties`, value);
    }
    for (const name of required) {
      if (!Object.hasOwn(value as object, name)) {
        this.#path.push(name);
        this.limits.add(this.#path, 'required', 'must be set');
        this.#path.pop();
      }
    }
    if (format !== undefined && !isOfFormat(format, value)) {
      this.#addInvalid(`must be of format ${format}`, value);
    }
  }

  #addInvalid(message: string, value: unknown): void {
    this.limits.add(this.#path, 'invalid', message, value);
  }
}

/**
 * Finds the violations of an object's schema, in time linear in the size of the object and with a bounded result. The
 * object is not modified. A value that exceeds a limit is one violation, and nothing below it is examined.
 */
export function examine(object: Record<string, unknown>, schema: LimitedSchema): Examined {
  const walk = new SchemaWalk(false);
  const limited = walk.at(object, schema) as Record<string, unknown>;
  return {
    limited,
    whole: walk.hasOverLimit ? (new SchemaWalk(true).at(object, schema) as Record<string, unknown>) : limited,
    violations: [...walk.types.list('type'), ...walk.limits.list('invalid')],
  };
}
