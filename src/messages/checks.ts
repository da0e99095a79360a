import { createRequire } from 'node:module';
import type * as AjvModule from 'ajv';
import type { ErrorObject, ValidateFunction } from 'ajv';
import type AjvFormats from 'ajv-formats';
import type { HookDefinition, MessageSchema } from '../hooks/index.ts';
import { componentOf, componentsOf, shared } from './components.ts';

const require = createRequire(import.meta.url);

/** A problem with a message. */
export interface MessageProblem {
  /** The field in the notation for users: `items[0].uid`; empty for the message itself. */
  field: string;
  /** The problem, as a sentence without subject: "must be set". */
  message: string;
}

/** Maximum number of problems with one message that are reported. */
const maxProblems = 20;

/**
 * How strictly a message is checked. `strict`, for messages that we send: only known fields, all required fields, and
 * allowed values. `tolerant`, for responses that we receive, which we read as Cluster API does: only types count, and
 * null means absent. `received`, for requests to a handler: types, and the fields that the hook's own messages require.
 * Objects of Cluster API in them may lack any field, since releases differ in what they send.
 */
export type Strictness = 'strict' | 'tolerant' | 'received';

/**
 * Whether a text is standard base64 with padding, as Go's decoder accepts it: line breaks are ignored. The library's
 * own expression repeats a group, which fails for a text of some MiB.
 */
function isBase64(text: string): boolean {
  const packed = /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]/g, '') : text;
  return packed.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(packed);
}

/** Keywords other than the type, which a Go decoder does not check. */
const beyondType = [
  'required',
  'enum',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'pattern',
] as const;

/** The key by which a compiler refers to a component that hooks share. */
const sharedId = (component: string) => `shared:${component}`;

function compiled(schema: MessageSchema, strictness: Strictness, isOwn: boolean): Record<string, unknown> {
  const { properties, additionalProperties, items, allOf, oneOf, ...result } = schema as Record<string, unknown> &
    MessageSchema;
  if (schema.$ref !== undefined && shared.has(componentOf(schema.$ref))) {
    result.$ref = sharedId(componentOf(schema.$ref));
  }
  if (strictness !== 'strict') {
    for (const keyword of beyondType) {
      if (!(strictness === 'received' && isOwn && keyword === 'required')) {
        delete result[keyword];
      }
    }
    if (strictness === 'tolerant' && result.type !== undefined) {
      result.nullable = true;
    }
  }
  const inner = (part: MessageSchema) => compiled(part, strictness, isOwn);
  if (properties !== undefined) {
    result.properties = Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, inner(field)]));
    // Messages of a newer release have fields that this program does not know.
    result.additionalProperties = strictness !== 'strict';
  }
  if (additionalProperties !== undefined) {
    result.additionalProperties = inner(additionalProperties);
  }
  if (items !== undefined) {
    result.items = inner(items);
  }
  if (allOf !== undefined) {
    result.allOf = allOf.map(inner);
  }
  if (oneOf !== undefined) {
    result.oneOf = oneOf.map(inner);
  }
  return result;
}

/** Longest time that is read, in characters: the library splits longer ones into as many pieces as they have letters T. */
const maxTimeLength = 256;

/** Longest name of a field in the path of a problem, in characters. */
const maxNameInPath = 512;

/**
 * The code of a check with names cut in the paths of its problems. The library escapes the whole name of a field with
 * a problem, which takes seconds for a name of some MiB.
 */
function withShortPaths(code: string): string {
  return code.replaceAll('.replace(/~/g,', `.slice(0, ${maxNameInPath}).replace(/~/g,`);
}

/**
 * The compiler of schemas, and the components in it that hooks share: each is added and compiled once, for the first hook
 * that needs it.
 */
interface Compiler {
  ajv: AjvModule.Ajv;
  known: Set<string>;
}

function createCompiler(strictness: Strictness): Compiler {
  // Loaded on demand, since most code that uses the messages never validates one.
  const { Ajv }: typeof AjvModule = require('ajv');
  const formats: typeof AjvFormats = require('ajv-formats');
  const ajv = new Ajv({
    allErrors: strictness === 'strict',
    strict: false,
    // Validating the schema takes half the time of a first check, and would see only the reference to the message.
    validateSchema: false,
    logger: false,
    ownProperties: true,
    verbose: true,
    // Optimizing takes a third of the compile time and does not make the validators faster.
    code: { optimize: false, process: withShortPaths },
  });
  formats.default(ajv, ['int32', 'int64']);
  const dateTime = formats.default.get('date-time') as { validate(text: string): boolean };
  ajv.addFormat('date-time', (text: string) => text.length <= maxTimeLength && dateTime.validate(text));
  ajv.addFormat('byte', isBase64);
  return { ajv, known: new Set() };
}

const compilers: Partial<Record<Strictness, Compiler>> = {};

function compile(hook: HookDefinition, strictness: Strictness, message: 'request' | 'response'): ValidateFunction {
  const compiler = compilers[strictness] ?? createCompiler(strictness);
  compilers[strictness] = compiler;
  const { ajv, known } = compiler;
  const { component } = hook[message];
  const components = componentsOf([hook]);
  for (const name of components.keys()) {
    const schema = shared.get(name);
    if (schema !== undefined && !known.has(name)) {
      // The schemas are our own and need not be validated.
      ajv.addSchema(compiled(schema, strictness, false), sharedId(name), false, false);
      known.add(name);
    }
  }
  const own = [...components].filter(([name]) => name === component || !shared.has(name));
  const schemas = Object.fromEntries(
    own.map(([name, schema]) => [
      name,
      compiled(schema, strictness, name === component || Object.hasOwn(hook.components, name)),
    ]),
  );
  const root = { $ref: `#/components/schemas/${component}`, components: { schemas } };
  const check = ajv.compile(root);
  // The compiler lives longer than the hook.
  ajv.removeSchema(root);
  return check;
}

type Checks = Partial<Record<`${Strictness} ${'request' | 'response'}`, ValidateFunction>>;

/** Compiled when a hook is first used, which takes some 5 ms, and some 50 ms for the first hook. */
const checks = new WeakMap<HookDefinition, Checks>();

function checkOf(hook: HookDefinition, strictness: Strictness, message: 'request' | 'response'): ValidateFunction {
  const known = checks.get(hook) ?? {};
  checks.set(hook, known);
  const check = known[`${strictness} ${message}`] ?? compile(hook, strictness, message);
  known[`${strictness} ${message}`] = check;
  return check;
}

/** `/items/0/uid` as `items[0].uid`. */
function fieldOf(pointer: string, more?: string): string {
  const tokens = pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
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

/** The problems with a message of a hook, at most 20; empty for a valid message. */
export function messageProblems(
  hook: HookDefinition,
  message: 'request' | 'response',
  value: unknown,
  strictness: Strictness,
): MessageProblem[] {
  const check = checkOf(hook, strictness, message);
  return check(value) ? [] : (check.errors ?? []).slice(0, maxProblems).map(problemOf);
}

/** Problems in one line: `items[0].uid must be set; status must be one of Failure, Success`. */
export function formatProblems(problems: readonly MessageProblem[]): string {
  return problems.map(({ field, message }) => `${field === '' ? 'the message' : field} ${message}`).join('; ');
}
