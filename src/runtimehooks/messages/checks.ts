import type { ErrorObject } from 'ajv';
import { pointerKeys } from '../../kubernetes/index.ts';
import type { HookDefinition } from '../catalog/definition.ts';
import { checkOf, type Strictness } from './compile.ts';
import { fitsOf } from './fits.ts';

/** A problem with a message. */
export interface MessageProblem {
  /** The field in the notation for users: `items[0].uid`; empty for the message itself. */
  field: string;
  /** The problem, as a sentence without subject: "must be set". */
  message: string;
}

/** Maximum number of problems with one message that are reported. */
const maxProblems = 20;

/** `/items/0/uid` as `items[0].uid`. */
function fieldOf(pointer: string, more?: string): string {
  const tokens = pointerKeys(pointer);
  if (more !== undefined) {
    tokens.push(more);
  }
  return tokens.reduce((path, token) => {
    if (/^\d+$/.test(token)) {
      return `${path}[${token}]`;
    }
    return /^[A-Za-z_][\w-]*$/.test(token)
      ? `${path}${path === '' ? '' : '.'}${token}`
      : `${path}[${JSON.stringify(token.slice(0, 100))}]`;
  }, '');
}

const typeOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

function problemOf({ keyword, instancePath, params, data, message }: ErrorObject): MessageProblem {
  switch (keyword) {
    case 'required':
      return { field: fieldOf(instancePath, params.missingProperty as string), message: 'must be set' };
    case 'additionalProperties':
      return {
        field: fieldOf(instancePath, params.additionalProperty as string),
        message: 'is not a field of this message',
      };
    case 'type':
      return { field: fieldOf(instancePath), message: `must be of type ${params.type}, not ${typeOf(data)}` };
    case 'enum':
      return {
        field: fieldOf(instancePath),
        message: `must be one of ${(params.allowedValues as unknown[]).join(', ')}`,
      };
    case 'format':
      return {
        field: fieldOf(instancePath),
        message: params.format === 'byte' ? 'must be standard base64' : `must be of format ${params.format}`,
      };
    default:
      return { field: fieldOf(instancePath), message: message ?? `must satisfy ${keyword}` };
  }
}

/** Whether a message of a hook has no problem. */
export function messageFits(
  hook: HookDefinition,
  message: 'request' | 'response',
  value: unknown,
  strictness: Strictness,
): boolean {
  return (fitsOf(hook, message, strictness) ?? checkOf(hook, strictness, message))(value);
}

/** The problems with a message of a hook, at most 20; empty for a valid message. */
export function messageProblems(
  hook: HookDefinition,
  message: 'request' | 'response',
  value: unknown,
  strictness: Strictness,
): MessageProblem[] {
  if (fitsOf(hook, message, strictness)?.(value)) {
    return [];
  }
  const check = checkOf(hook, strictness, message);
  return check(value) ? [] : (check.errors ?? []).slice(0, maxProblems).map(problemOf);
}

/**
 * Loads or compiles what checks the messages of a hook at its handler, so that the first call need not.
 *
 * @throws {Error} when a schema of the hook is invalid.
 */
export function prepareChecks(hook: HookDefinition): void {
  for (const [message, strictness] of [
    ['request', 'received'],
    ['response', 'strict'],
  ] as const) {
    if (fitsOf(hook, message, strictness) === undefined) {
      checkOf(hook, strictness, message);
    }
  }
}

/** Problems in one line: `items[0].uid must be set; status must be one of Failure, Success`. */
export function formatProblems(problems: readonly MessageProblem[]): string {
  return problems.map(({ field, message }) => `${field === '' ? 'the message' : field} ${message}`).join('; ');
}
