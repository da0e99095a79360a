import { isJsonObject } from '../../kubernetes/index.ts';
import { compilePattern } from '../../kubernetes/schema/index.ts';
import type { HookDefinition } from '../catalog/definition.ts';
import type { MessageSchema } from '../catalog/schema.ts';
import { type Components, componentOf, componentsFor } from './components.ts';
import { fitsOf, type Strictness } from './fits.ts';
import { formats } from './formats.ts';

/** A problem with a message. */
export interface MessageProblem {
  /** The field in the notation for users: `items[0].uid`; empty for the message itself. */
  field: string;
  /** The problem, as a sentence without subject: "must be set". */
  message: string;
}

/** Maximum number of problems with one message that are reported. */
const maxProblems = 20;
/** Longest name of a field in the path of a problem, in characters. */
const maxNameInPath = 512;

/** Keys as a field: `items[0].uid`. */
function fieldOf(keys: readonly (string | number)[]): string {
  return keys.reduce<string>((path, key) => {
    if (typeof key === 'number') {
      return `${path}[${key}]`;
    }
    const name = key.slice(0, maxNameInPath);
    return /^[A-Za-z_][\w-]*$/.test(name)
      ? `${path}${path === '' ? '' : '.'}${name}`
      : `${path}[${JSON.stringify(name.slice(0, 100))}]`;
  }, '');
}

const typeOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

function hasType(value: unknown, type: MessageSchema['type']): boolean {
  return type === 'integer' ? Number.isInteger(value) : type === typeOf(value);
}

function hasFormat(value: unknown, format: string): boolean {
  const check = Object.hasOwn(formats, format) ? formats[format as keyof typeof formats] : undefined;
  if (check === undefined || typeof value !== (typeof check === 'function' ? 'string' : 'number')) {
    return true;
  }
  return typeof check === 'function' ? check(value as string) : check.validate(value as number);
}

/** Whether an object has a field itself. A value of a program may have undefined fields, which JSON leaves out. */
const has = (value: object, name: string) =>
  Object.hasOwn(value, name) && (value as Record<string, unknown>)[name] !== undefined;

/** A value with a schema of OpenAPI: what of it is wrong. */
class Check {
  readonly problems: MessageProblem[] = [];
  readonly #hook: HookDefinition;
  readonly #components: Components;
  readonly #strictness: Strictness;
  readonly #most: number;
  readonly #keys: (string | number)[] = [];

  constructor(hook: HookDefinition, strictness: Strictness, most: number) {
    this.#hook = hook;
    this.#components = componentsFor(hook);
    this.#strictness = strictness;
    this.#most = most;
  }

  /** @param isOwn whether the schema is one of the hook itself, not one of Kubernetes or Cluster API. */
  at(value: unknown, schema: MessageSchema, isOwn: boolean): void {
    const { $ref, type, enum: allowed, format, allOf = [], oneOf } = schema;
    if (this.problems.length >= this.#most) {
      return;
    }
    if ($ref !== undefined) {
      this.component(value, componentOf($ref));
      return;
    }
    if (type !== undefined && !hasType(value, type)) {
      this.#add(`must be of type ${type}, not ${typeOf(value)}`);
      return;
    }
    for (const part of allOf) {
      this.at(value, part, isOwn);
    }
    if (oneOf !== undefined && oneOf.filter((part) => this.#fits(value, part, isOwn)).length !== 1) {
      this.#add(`must be of type ${oneOf.map((part) => part.type).join(' or ')}, not ${typeOf(value)}`);
    }
    if (this.#strictness === 'strict') {
      if (allowed !== undefined && !allowed.includes(value as string)) {
        this.#add(`must be one of ${allowed.join(', ')}`);
      }
      this.#checkLimits(value, schema);
    }
    if (format !== undefined && !hasFormat(value, format)) {
      this.#add(format === 'byte' ? 'must be standard base64' : `must be of format ${format}`);
    }
    if (Array.isArray(value)) {
      for (const [index, item] of schema.items === undefined ? [] : value.entries()) {
        this.#below(index, item, schema.items as MessageSchema, isOwn);
      }
    } else if (isJsonObject(value)) {
      this.#checkFields(value, schema, isOwn);
    }
  }

  /** @param name of the component that is the schema. */
  component(value: unknown, name: string): void {
    const { request, response, components } = this.#hook;
    const isOwn = name === request.component || name === response.component || Object.hasOwn(components, name);
    this.at(value, this.#components.get(name) ?? {}, isOwn);
  }

  #fits(value: unknown, schema: MessageSchema, isOwn: boolean): boolean {
    const inner = new Check(this.#hook, this.#strictness, 1);
    inner.at(value, schema, isOwn);
    return inner.problems.length === 0;
  }

  #add(message: string, ...more: string[]): void {
    if (this.problems.length < this.#most) {
      this.problems.push({ field: fieldOf([...this.#keys, ...more]), message });
    }
  }

  #below(key: string | number, value: unknown, schema: MessageSchema, isOwn: boolean): void {
    this.#keys.push(key);
    this.at(value, schema, isOwn);
    this.#keys.pop();
  }

  #checkLimits(value: unknown, schema: MessageSchema): void {
    const { minLength, maxLength, minimum, maximum, minItems, maxItems, pattern } = schema;
    const check = (size: number, least: number | undefined, most: number | undefined, unit: string) => {
      if (least !== undefined && size < least) {
        this.#add(`must ${unit === '' ? 'be' : 'have'} at least ${least}${unit}`);
      } else if (most !== undefined && size > most) {
        this.#add(`must ${unit === '' ? 'be' : 'have'} at most ${most}${unit}`);
      }
    };
    if (typeof value === 'number') {
      check(value, minimum, maximum, '');
    } else if (Array.isArray(value)) {
      check(value.length, minItems, maxItems, ' items');
    } else if (typeof value === 'string') {
      if (minLength !== undefined || maxLength !== undefined) {
        check(Array.from(value).length, minLength, maxLength, ' characters');
      }
      if (pattern !== undefined && !compilePattern(pattern).test(value)) {
        this.#add(`must match ${pattern}`);
      }
    }
  }

  #checkFields(value: object, { properties, additionalProperties, required = [] }: MessageSchema, isOwn: boolean) {
    const fields = value as Record<string, unknown>;
    for (const name of this.#strictness === 'strict' || isOwn ? required : []) {
      if (!has(fields, name)) {
        this.#add('must be set', name);
      }
    }
    for (const name of properties === undefined && additionalProperties === undefined ? [] : Object.keys(fields)) {
      const known = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
      const schema = known ?? additionalProperties;
      if (schema === undefined) {
        // Messages of a newer release have fields that this program does not know.
        if (this.#strictness === 'strict') {
          this.#add('is not a field of this message', name);
        }
      } else if (name === 'status' && known?.$ref !== undefined) {
        // Hooks never get the status of an object, and each release adds fields to it: `kubectl get -o yaml` has it all the same.
        this.#below(name, fields[name], { type: 'object' }, isOwn);
      } else if (fields[name] !== undefined) {
        this.#below(name, fields[name], schema, isOwn);
      }
    }
  }
}

/** The problems that the schema of a message finds, at most 20; one if not all are asked for. */
export function schemaProblems(
  hook: HookDefinition,
  message: 'request' | 'response',
  value: unknown,
  strictness: Strictness,
): MessageProblem[] {
  const check = new Check(hook, strictness, strictness === 'strict' ? maxProblems : 1);
  check.component(value, hook[message].component);
  return check.problems;
}

/** The problems with a message of a hook, at most 20; empty for a valid message. */
export function messageProblems(
  hook: HookDefinition,
  message: 'request' | 'response',
  value: unknown,
  strictness: Strictness,
): MessageProblem[] {
  return fitsOf(hook, message, strictness)?.(value) ? [] : schemaProblems(hook, message, value, strictness);
}

/** Problems in one line: `items[0].uid must be set; status must be one of Failure, Success`. */
export function formatProblems(problems: readonly MessageProblem[]): string {
  return problems.map(({ field, message }) => `${field === '' ? 'the message' : field} ${message}`).join('; ');
}
