import { createRequire } from 'node:module';
import type * as AjvModule from 'ajv';
import { RE2JS } from 're2js';
import { fieldAt, isJsonObject, type Json, type JsonObject } from '../../kubernetes/index.ts';
import { type Blueprint, type ClassVariable, objectAt, objectsAt, textAt } from '../cluster/index.ts';

/** Longest schema that values are validated against, in characters of JSON; a longer one is skipped. */
const maxSchemaLength = 64 * 1024;
/** Longest pattern. */
const maxPatternLength = 1024;
/** Maximum number of problems of a Cluster's variables that are reported. */
const maxProblems = 20;

/**
 * Keywords of variables' schemas that constrain values. Not `uniqueItems`: Cluster API refuses schemas with it, since
 * comparing items pairwise takes quadratic time.
 */
const keywords = [
  'type',
  'enum',
  'maximum',
  'minimum',
  'maxItems',
  'minItems',
  'maxLength',
  'minLength',
  'maxProperties',
  'minProperties',
  'pattern',
  'required',
] as const;

/** A schema of OpenAPI 3 as JSON Schema: the keywords that are known, and nothing else. */
function jsonSchemaOf(schema: Json | undefined): JsonObject {
  if (!isJsonObject(schema)) {
    return {};
  }
  const result: JsonObject = {};
  for (const keyword of keywords) {
    const value = schema[keyword];
    if (value !== undefined && !(keyword === 'pattern' && String(value).length > maxPatternLength)) {
      result[keyword] = value;
    }
  }
  for (const limit of ['maximum', 'minimum'] as const) {
    const exclusive = limit === 'maximum' ? 'exclusiveMaximum' : 'exclusiveMinimum';
    if (schema[exclusive] === true && result[limit] !== undefined) {
      result[exclusive] = result[limit];
      delete result[limit];
    }
  }
  if (schema.items !== undefined) {
    result.items = jsonSchemaOf(schema.items);
  }
  if (isJsonObject(schema.additionalProperties)) {
    result.additionalProperties = jsonSchemaOf(schema.additionalProperties);
  }
  if (isJsonObject(schema.properties)) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => [name, jsonSchemaOf(field)]),
    );
  }
  return result;
}

const require = createRequire(import.meta.url);
let ajv: AjvModule.Ajv | undefined;

/** Loaded with the first variable: it is sixty files. */
function compiler(): AjvModule.Ajv {
  ajv ??= new (require('ajv') as typeof AjvModule).Ajv({
    strict: false,
    validateFormats: false,
    addUsedSchema: false,
    code: {
      // RE2, as Kubernetes reads patterns: it does not backtrack.
      regExp: Object.assign(
        (pattern: string) => {
          const compiled = RE2JS.compile(pattern);
          return { test: (text: string) => compiled.matcher(text).find() } as RegExp;
        },
        { code: 'unused' },
      ),
    },
  });
  return ajv;
}

/** Compiled schemas: all Clusters of a class have the same. */
const compiled = new WeakMap<JsonObject, (value: Json) => string | undefined>();

function compile(schema: JsonObject): (value: Json) => string | undefined {
  if (JSON.stringify(schema).length > maxSchemaLength) {
    return () => undefined;
  }
  try {
    const validate = compiler().compile(jsonSchemaOf(schema));
    return (value) => {
      if (validate(value)) {
        return undefined;
      }
      const [error] = validate.errors ?? [];
      return `${error?.instancePath.slice(0, 100) ?? ''} ${error?.message ?? 'is not valid'}`.trim();
    };
  } catch (error) {
    const problem = `cannot be validated with its schema: ${(error as Error).message.split('\n')[0]?.slice(0, 200)}`;
    return () => problem;
  }
}

/** The problem of a value, or undefined. */
function valueProblem(schema: JsonObject, value: Json): string | undefined {
  const check = compiled.get(schema) ?? compile(schema);
  compiled.set(schema, check);
  return check(value);
}

/** Variables of an answer of DiscoverVariables, or of a class, as definitions. */
export function definitionsIn(list: Json | undefined, from: string): [string, ClassVariable][] {
  return objectsAt(list ?? null).map((variable) => [
    textAt(variable, 'name'),
    { from, isRequired: variable.required === true, schema: objectAt(variable, 'schema', 'openAPIV3Schema') },
  ]);
}

/** Adds definitions to those of a class. */
export function define(blueprint: Blueprint, definitions: readonly [string, ClassVariable][]): void {
  for (const [name, definition] of definitions) {
    const known = (blueprint.variables.get(name) ?? []).filter(({ from }) => from !== definition.from);
    blueprint.variables.set(name, [...known, definition]);
  }
}

/**
 * Fills in the defaults of variables that a Cluster does not set, as Cluster API's webhook does.
 *
 * @returns the variables, and what the webhook would refuse.
 */
export function checkedVariables(
  blueprint: Blueprint,
  cluster: JsonObject,
): { variables: JsonObject[]; problems: string[] } {
  const variables = [...objectsAt(cluster, 'spec', 'topology', 'variables')];
  const problems: string[] = [];
  const set = new Map(variables.map((variable) => [textAt(variable, 'name'), variable]));
  for (const [name, [definition]] of blueprint.variables) {
    if (definition === undefined || set.has(name)) {
      continue;
    }
    const { default: value } = definition.schema;
    if (value !== undefined) {
      variables.push({ name, value });
    } else if (definition.isRequired) {
      problems.push(`variable ${JSON.stringify(name.slice(0, 100))} is required and not set`);
    }
  }
  for (const [name, { value }] of set) {
    const definitions = blueprint.variables.get(name) ?? [];
    if (definitions.length === 0) {
      problems.push(`variable ${JSON.stringify(name.slice(0, 100))} is not defined by the ClusterClass or its patches`);
    }
    for (const { schema } of definitions) {
      const problem = valueProblem(schema, value ?? null);
      if (problem !== undefined) {
        problems.push(`variable ${JSON.stringify(name.slice(0, 100))}: ${problem}`);
      }
    }
  }
  return { variables, problems: problems.slice(0, maxProblems) };
}

/** The user's variables that a patch gets: those that it defines, and those of the class itself. */
export function variablesFor(blueprint: Blueprint, patch: string, variables: readonly JsonObject[]): JsonObject[] {
  return variables.filter((variable) =>
    (blueprint.variables.get(textAt(variable, 'name')) ?? []).some(({ from }) => from === patch || from === 'inline'),
  );
}

/** The present variables of a Cluster. */
export const variablesOf = (cluster: JsonObject): JsonObject[] =>
  objectsAt(fieldAt(cluster, 'spec', 'topology', 'variables') ?? null);
