import { count } from '../../base/index.ts';
import type { Budget } from '../../kubernetes/cel/index.ts';
import { isJsonObject, itemsAt, type Json, type JsonObject, objectAt, perObject } from '../../kubernetes/index.ts';
import { quotable } from '../../runtimehooks/client/index.ts';
import {
  type CheckedDefinitions,
  checkDefinitions,
  readSchema,
  type UnevaluatedRules,
  valueCauses,
} from '../../runtimehooks/variables/index.ts';

/** Maximum number of parts of all schemas of one answer that are examined for advice. */
const maxParts = 20_000;
const maxVariables = 500;
/** Longest text that is made up as a value, in characters. */
const maxSampleLength = 256;
/** Longest path of a problem, and longest problem, in characters. */
const maxText = 300;

const pairs = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
] as const;

/** What Cluster API accepts in a part of a schema, though no value can satisfy it. */
function* partAdvice(schema: JsonObject): Generator<string> {
  const { properties, required } = schema;
  if (Array.isArray(required) && isJsonObject(properties) && schema['x-kubernetes-preserve-unknown-fields'] !== true) {
    const missing = required.find((name) => typeof name === 'string' && !Object.hasOwn(properties, name));
    if (typeof missing === 'string') {
      yield `requires ${quotable(missing, 100)}, which is not one of its properties: no value satisfies it`;
    }
  }
  for (const [least, most] of pairs) {
    if (typeof schema[least] === 'number' && typeof schema[most] === 'number' && schema[least] > schema[most]) {
      yield `has ${least} ${schema[least]} above ${most} ${schema[most]}: no value satisfies it`;
    }
  }
}

function advice(variables: Json | undefined): string[] {
  const hints: string[] = [];
  let parts = 0;
  const look = (schema: Json | undefined, path: string): void => {
    if (!isJsonObject(schema) || ++parts > maxParts) {
      return;
    }
    for (const text of partAdvice(schema)) {
      hints.push(`${path} ${text}`);
    }
    for (const [name, field] of Object.entries(objectAt(schema, 'properties'))) {
      look(field, `${path}.${quotable(name, 60)}`);
    }
    look(schema.items, `${path}[]`);
    look(schema.additionalProperties, `${path}.*`);
  };
  for (const variable of itemsAt(variables)) {
    const { name, schema } = objectAt(variable);
    look(isJsonObject(schema) ? schema.openAPIV3Schema : undefined, `variable ${quotable(String(name), 60)}`);
  }
  return hints;
}

const checkedOnce = perObject((variables: Json[]) => checkDefinitions(variables, 'variables'));

/** Checks the definitions in one answer once, since hostile ones take seconds. */
function checked(variables: Json | undefined): CheckedDefinitions {
  return Array.isArray(variables) ? checkedOnce(variables) : checkDefinitions(variables, 'variables');
}

/** Maximum number of rules that are reported as not evaluated. */
const maxUnevaluated = 20;

/** Rules that only Kubernetes can evaluate: whether defaults, examples and enums satisfy them is not known. */
function unevaluatedTexts(unevaluated: readonly UnevaluatedRules[]): string[] {
  const rules = unevaluated.flatMap(({ unknown }) => unknown);
  const more = rules.length - maxUnevaluated;
  return [
    ...rules.slice(0, maxUnevaluated).map((text) => quotable(`${text}; try it in a cluster`, 2 * maxText)),
    ...(more > 0 ? [`${count(more, 'more rule')} ${more === 1 ? 'is' : 'are'} not evaluated here`] : []),
  ];
}

/**
 * The problems of the variables in an answer of DiscoverVariables: what Cluster API refuses, in its words; if there is
 * nothing, schemas that no value can satisfy and rules that are not evaluated here, as warnings.
 */
export function variableProblems(variables: Json | undefined): { message: string; isWarning?: boolean }[] {
  const { causes, isComplete, unevaluated } = checked(variables);
  if (causes.length === 0 && !isComplete) {
    return [{ message: 'the schemas take too much work to check all of them', isWarning: true }];
  }
  return causes.length > 0
    ? causes.map(({ field = '', message }) => ({
        message: quotable(`${field.slice(0, maxText)}: ${message.slice(0, maxText)}`, 2 * maxText),
      }))
    : [...advice(variables), ...unevaluatedTexts(unevaluated)].map((message) => ({ message, isWarning: true }));
}

/** A value that matches the type and limits of a schema; undefined for schemas with further constraints. */
function sampleValue(schema: JsonObject, depth = 0): Json | undefined {
  const { example, default: preset, enum: allowed, type, pattern, properties, required } = schema;
  const sample = [example, preset, Array.isArray(allowed) ? allowed[0] : undefined].find(
    (value) => value !== undefined && value !== null && value !== '',
  );
  if (sample !== undefined) {
    return sample;
  }
  switch (type) {
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number'
        ? schema.minimum
        : typeof schema.maximum === 'number'
          ? schema.maximum
          : 1;
    case 'string': {
      const [least, most] = [schema.minLength, schema.maxLength].map((one) =>
        typeof one === 'number' ? one : undefined,
      );
      if (pattern !== undefined || schema.format !== undefined || (least ?? 0) > maxSampleLength) {
        return undefined;
      }
      return 'sample'.padEnd(least ?? 0, 'x').slice(0, most ?? maxSampleLength);
    }
    case 'array':
      return typeof schema.minItems === 'number' && schema.minItems > 0 ? undefined : [];
    case 'object': {
      const fields = isJsonObject(properties) && depth < 8 ? properties : {};
      const value: Record<string, Json> = {};
      for (const name of Array.isArray(required) ? required.slice(0, 100) : []) {
        const field = typeof name === 'string' && Object.hasOwn(fields, name) ? fields[name] : undefined;
        const sample = isJsonObject(field) ? sampleValue(field, depth + 1) : undefined;
        if (sample === undefined) {
          return undefined;
        }
        Object.defineProperty(value, name as string, { value: sample, enumerable: true });
      }
      return value;
    }
    default:
      return undefined;
  }
}

/** How long the rules may take for all values that are made up, in ms. */
const maxRulesMs = 2_000;

/** Values for the variables that an extension defines, so that its patches have an effect. */
export function sampleValues(variables: Json | undefined): JsonObject[] {
  const budget: Budget = { leftMs: maxRulesMs };
  // Patterns and rules of schemas that are refused may be anything.
  const { causes, isComplete } = checked(variables);
  const isChecked = causes.length === 0 && isComplete;
  return (Array.isArray(variables) ? variables.slice(0, maxVariables) : []).flatMap((variable): JsonObject[] => {
    const { name, schema } = objectAt(variable);
    const root = isJsonObject(schema) ? schema.openAPIV3Schema : undefined;
    const value = isJsonObject(root) ? sampleValue(root) : undefined;
    if (typeof name !== 'string' || name === 'builtin' || value === undefined || root === undefined) {
      return [];
    }
    const isRefused = isChecked && valueCauses(name, value, readSchema(root as JsonObject), name, budget).length > 0;
    return isRefused ? [] : [{ name, value }];
  });
}
