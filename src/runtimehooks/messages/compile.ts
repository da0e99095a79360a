import { Ajv, type ValidateFunction } from 'ajv';
import type { HookDefinition } from '../catalog/definition.ts';
import type { MessageSchema } from '../catalog/schema.ts';
import { componentOf, componentsOf, shared } from './components.ts';
import { formats } from './formats.ts';

/**
 * How strictly a message is checked. `strict`, for messages that we send: only known fields, all required fields, and
 * allowed values. `tolerant`, for responses that we receive, which we read as Cluster API does: only types count, and
 * null means absent. `received`, for requests to a handler: types, and the fields that the hook's own messages require.
 * Objects of Cluster API in them may lack any field, since releases differ in what they send.
 */
export type Strictness = 'strict' | 'tolerant' | 'received';

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

const sharedKeyOf = (component: string) => (shared.has(component) ? sharedId(component) : undefined);

/** A schema as the compiler takes it. `keyOf` returns the reference to a component, undefined for the one in the schema. */
export function schemaFor(
  schema: MessageSchema,
  strictness: Strictness,
  isOwn: boolean,
  keyOf: (component: string) => string | undefined,
): Record<string, unknown> {
  const { properties, additionalProperties, items, allOf, oneOf, ...result } = schema as Record<string, unknown> &
    MessageSchema;
  if (schema.$ref !== undefined) {
    result.$ref = keyOf(componentOf(schema.$ref)) ?? schema.$ref;
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
  const inner = (part: MessageSchema) => schemaFor(part, strictness, isOwn, keyOf);
  if (properties !== undefined) {
    // Hooks never get the status of an object, and each release adds fields to it: `kubectl get -o yaml` has it all the same.
    const isStatus = (name: string, field: MessageSchema) => name === 'status' && field.$ref !== undefined;
    result.properties = Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [
        name,
        isStatus(name, field) ? { type: 'object' } : inner(field),
      ]),
    );
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
  ajv: Ajv;
  known: Set<string>;
}

function createCompiler(strictness: Strictness): Compiler {
  const ajv = new Ajv({
    allErrors: strictness === 'strict',
    strict: false,
    // Validating the schema takes half the time of a first check, and would see only the reference to the message.
    validateSchema: false,
    logger: false,
    ownProperties: true,
    verbose: true,
    formats,
    // Optimizing takes a third of the compile time and does not make the validators faster.
    code: { optimize: false, process: withShortPaths },
  });
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
      ajv.addSchema(schemaFor(schema, strictness, false, sharedKeyOf), sharedId(name), false, false);
      known.add(name);
    }
  }
  const own = [...components].filter(([name]) => name === component || !shared.has(name));
  const schemas = Object.fromEntries(
    own.map(([name, schema]) => [
      name,
      schemaFor(schema, strictness, name === component || Object.hasOwn(hook.components, name), sharedKeyOf),
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

/** What finds the problems with a message. */
export function checkOf(
  hook: HookDefinition,
  strictness: Strictness,
  message: 'request' | 'response',
): ValidateFunction {
  const known = checks.get(hook) ?? {};
  checks.set(hook, known);
  const check = known[`${strictness} ${message}`] ?? compile(hook, strictness, message);
  known[`${strictness} ${message}`] = check;
  return check;
}
