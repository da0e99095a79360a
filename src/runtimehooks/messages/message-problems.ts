import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import ajvFormats from 'ajv-formats';
import { formatFieldPath, isBase64, isJsonObject, pointerKeys } from '../../kubernetes/index.ts';
import type { HookDefinition } from '../catalog/definition.ts';
import { componentOf, components, hooksPrefix, type MessageSchema, resolved } from '../catalog/schema.ts';

const { default: standardFormats } = ajvFormats;

/** The first problem with a message. */
export interface MessageProblem {
  /** The field in the notation for users: `items[0].uid`; empty for the message itself. */
  field: string;
  /** The problem, as a sentence without subject: "must be set". */
  message: string;
}

/**
 * The depth of the check. `request`: types, and the fields that the hook's own messages require: releases differ in what
 * they send of other objects. `response`: the whole schema. `answer`, a response as Cluster API reads it: types only.
 */
type Check = 'request' | 'response' | 'answer';

/** @param isOwn whether it is one of the hooks' own. */
function schemaFor(schema: MessageSchema, check: Check, isOwn: boolean): object {
  const { $ref, properties, additionalProperties, items, allOf, oneOf, required, enum: allowed, ...rest } = schema;
  const inner = (part: MessageSchema) => schemaFor(part, check, isOwn);
  return {
    ...rest,
    ...(required !== undefined && (check === 'response' || (check === 'request' && isOwn)) && { required }),
    ...(allowed !== undefined && check === 'response' && { enum: allowed }),
    ...($ref !== undefined && { $ref: componentOf($ref) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [
          name,
          // Hooks never get the status of an object, and each release adds fields to it: `kubectl get -o yaml` has it all the same.
          name === 'status' && field.$ref !== undefined ? { type: 'object' } : inner(field),
        ]),
      ),
    }),
    ...(additionalProperties !== undefined && { additionalProperties: inner(additionalProperties) }),
    ...(items !== undefined && { items: inner(items) }),
    ...(allOf !== undefined && { allOf: allOf.map(inner) }),
    // The parts of ours are of one type each.
    ...(oneOf !== undefined && { type: oneOf.map(({ type }) => type) }),
  };
}

/** Longest time that is read, in characters: the library splits longer ones into as many pieces as they have letters T. */
const maxTimeLength = 256;

const isTime = standardFormats.get('date-time') as { validate(text: string): boolean };

/** ajv with the components of all hooks, each of which it compiles when a message needs it first. */
function compilerFor(check: Check): Ajv {
  const ajv = new Ajv({
    strict: false,
    validateSchema: false,
    logger: false,
    ownProperties: true,
    messages: false,
    verbose: true,
    // Optimized, a compilation takes half as long again, and checks as long.
    code: { optimize: false },
  });
  standardFormats(ajv, ['int32', 'int64']);
  ajv.addFormat('byte', isBase64);
  ajv.addFormat('date-time', (text) => text.length <= maxTimeLength && isTime.validate(text));
  for (const [name, schema] of components) {
    ajv.addSchema(schemaFor(schema, check, name.startsWith(hooksPrefix)), name, false, false);
  }
  return ajv;
}

const compilers = new Map<Check, Ajv>();

function validatorOf(hook: HookDefinition, check: Check): ValidateFunction {
  const ajv = compilers.get(check) ?? compilerFor(check);
  compilers.set(check, ajv);
  return ajv.getSchema(hook[check === 'request' ? 'request' : 'response'].component) as ValidateFunction;
}

/** Compiles what checks the messages of a server, which takes up to 100 ms for the first hook with a Cluster. */
export function compileChecks(hook: HookDefinition): void {
  validatorOf(hook, 'request');
  validatorOf(hook, 'response');
}

const typeOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

const messages: Readonly<Record<string, (schema: unknown, value: unknown) => string>> = {
  type: (types, value) => `must be of type ${[types].flat().join(' or ')}, not ${typeOf(value)}`,
  format: (format) => (format === 'byte' ? 'must be standard base64' : `must be of format ${format}`),
  enum: (values) => `must be one of ${(values as string[]).join(', ')}`,
  required: () => 'must be set',
};

function problemOf({ keyword, instancePath, params, schema, data }: ErrorObject, value: unknown): MessageProblem {
  let current = value;
  const keys = pointerKeys(instancePath).map((key) => {
    const isIndex = Array.isArray(current);
    current = (current as Record<string, unknown>)[key];
    return isIndex ? Number(key) : key;
  });
  return {
    field: formatFieldPath(keyword === 'required' ? [...keys, params.missingProperty as string] : keys),
    message: messages[keyword]?.(schema, data) ?? '',
  };
}

/** The first problem with a message; undefined for a valid one. */
export function messageProblem(hook: HookDefinition, check: Check, value: unknown): MessageProblem | undefined {
  const validate = validatorOf(hook, check);
  if (validate(value)) {
    return undefined;
  }
  const [error] = validate.errors as [ErrorObject];
  // It would keep the value.
  validate.errors = null;
  return problemOf(error, value);
}

/** @param keys the path of the value; it is changed on the way, as a copy for each field would be quadratic in the depth. */
function* unknownIn(value: unknown, schema: MessageSchema | undefined, keys: (string | number)[]): Generator<string> {
  const { properties = {}, additionalProperties, items } = resolved(schema) ?? {};
  if (Array.isArray(value)) {
    for (const [index, item] of items === undefined ? [] : value.entries()) {
      keys.push(index);
      yield* unknownIn(item, items, keys);
      keys.pop();
    }
  } else if (isJsonObject(value) && !(Object.keys(properties).length === 0 && additionalProperties === undefined)) {
    for (const [name, field] of Object.entries(value)) {
      const known = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      keys.push(name);
      if (known === undefined) {
        yield formatFieldPath(keys);
      } else if (name !== 'status' || known.$ref === undefined) {
        yield* unknownIn(field, known, keys);
      }
      keys.pop();
    }
  }
}

/** The fields of a message that its schema does not have, at most 20: a misspelt one is ignored by who reads it. */
export const unknownFields = (hook: HookDefinition, message: 'request' | 'response', value: unknown): string[] =>
  unknownIn(value, hook[message].schema, []).take(20).toArray();

/** A problem in one line: `items[0].uid must be set`. */
export function problemText({ field, message }: MessageProblem): string {
  return `${field === '' ? 'the message' : field} ${message}`;
}
