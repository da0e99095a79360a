import { isJsonObject } from '../../kubernetes/index.ts';
import { compilePattern } from '../../kubernetes/schema/index.ts';
import type { HookDefinition } from '../catalog/definition.ts';
import { hookComponents } from '../catalog/definitions/parts.ts';
import type { MessageSchema } from '../catalog/schema.ts';
import { componentOf, componentsFor } from './components.ts';
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

/** The problems that the schema of a message finds, at most 20; one if not all are asked for. */
export function schemaProblems(
  hook: HookDefinition,
  message: 'request' | 'response',
  value: unknown,
  strictness: Strictness,
): MessageProblem[] {
  const isStrict = strictness === 'strict';
  const most = isStrict ? maxProblems : 1;
  const problems: MessageProblem[] = [];
  const keys: (string | number)[] = [];

  function add(text: string, ...more: string[]): void {
    if (problems.length < most) {
      problems.push({ field: fieldOf([...keys, ...more]), message: text });
    }
  }

  function checkComponent(part: unknown, name: string): void {
    const isOwn = name === hook.request.component || name === hook.response.component;
    check(part, componentsFor(hook).get(name) ?? {}, isOwn || hookComponents.has(name));
  }

  /** @param isOwn whether the schema is one of the hook itself, not one of Kubernetes or Cluster API. */
  function check(part: unknown, schema: MessageSchema, isOwn: boolean): void {
    const { $ref, type, enum: allowed, format, allOf = [], oneOf } = schema;
    if (problems.length >= most) {
      return;
    }
    if ($ref !== undefined) {
      checkComponent(part, componentOf($ref));
      return;
    }
    if (type !== undefined && !hasType(part, type)) {
      add(`must be of type ${type}, not ${typeOf(part)}`);
      return;
    }
    for (const all of allOf) {
      check(part, all, isOwn);
    }
    if (oneOf !== undefined && oneOf.filter((one) => fits(part, one, isOwn)).length !== 1) {
      add(`must be of type ${oneOf.map((one) => one.type).join(' or ')}, not ${typeOf(part)}`);
    }
    if (isStrict) {
      if (allowed !== undefined && !allowed.includes(part as string)) {
        add(`must be one of ${allowed.join(', ')}`);
      }
      checkLimits(part, schema);
    }
    if (format !== undefined && !hasFormat(part, format)) {
      add(format === 'byte' ? 'must be standard base64' : `must be of format ${format}`);
    }
    if (Array.isArray(part)) {
      for (const [index, item] of schema.items === undefined ? [] : part.entries()) {
        checkBelow(index, item, schema.items as MessageSchema, isOwn);
      }
    } else if (isJsonObject(part)) {
      checkFields(part, schema, isOwn);
    }
  }

  function fits(part: unknown, schema: MessageSchema, isOwn: boolean): boolean {
    const before = problems.length;
    check(part, schema, isOwn);
    return problems.splice(before).length === 0;
  }

  function checkBelow(key: string | number, part: unknown, schema: MessageSchema, isOwn: boolean): void {
    keys.push(key);
    check(part, schema, isOwn);
    keys.pop();
  }

  function checkLimits(part: unknown, schema: MessageSchema): void {
    const { minLength, maxLength, minimum, maximum, minItems, maxItems, pattern } = schema;
    const checkSize = (size: number, min: number | undefined, max: number | undefined, unit: string) => {
      if (min !== undefined && size < min) {
        add(`must ${unit === '' ? 'be' : 'have'} at least ${min}${unit}`);
      } else if (max !== undefined && size > max) {
        add(`must ${unit === '' ? 'be' : 'have'} at most ${max}${unit}`);
      }
    };
    if (typeof part === 'number') {
      checkSize(part, minimum, maximum, '');
    } else if (Array.isArray(part)) {
      checkSize(part.length, minItems, maxItems, ' items');
    } else if (typeof part === 'string') {
      if (minLength !== undefined || maxLength !== undefined) {
        checkSize(Array.from(part).length, minLength, maxLength, ' characters');
      }
      if (pattern !== undefined && !compilePattern(pattern).test(part)) {
        add(`must match ${pattern}`);
      }
    }
  }

  function checkFields(
    fields: Record<string, unknown>,
    { properties, additionalProperties, required = [] }: MessageSchema,
    isOwn: boolean,
  ): void {
    for (const name of isStrict || isOwn ? required : []) {
      if (!has(fields, name)) {
        add('must be set', name);
      }
    }
    for (const name of properties === undefined && additionalProperties === undefined ? [] : Object.keys(fields)) {
      const known = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
      const schema = known ?? additionalProperties;
      if (schema === undefined) {
        // Messages of a newer release have fields that this program does not know.
        if (isStrict) {
          add('is not a field of this message', name);
        }
      } else if (name === 'status' && known?.$ref !== undefined) {
        // Hooks never get the status of an object, and each release adds fields to it: `kubectl get -o yaml` has it all the same.
        checkBelow(name, fields[name], { type: 'object' }, isOwn);
      } else if (fields[name] !== undefined) {
        checkBelow(name, fields[name], schema, isOwn);
      }
    }
  }

  checkComponent(value, hook[message].component);
  return problems;
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
