import { type Budget, NotEvaluated } from '../../kubernetes/cel/index.ts';
import { itemsAt, type Json, type JsonObject, objectAt, perObject, textAt } from '../../kubernetes/index.ts';
import { quotable } from '../../runtimehooks/client/index.ts';
import {
  type CheckedDefinitions,
  checkDefinitions,
  readSchema,
  valueCauses,
} from '../../runtimehooks/variables/index.ts';

const maxVariables = 500;
/** Longest text that is made up as a value, in characters. */
const maxSampleLength = 256;
/** Longest path of a problem, and longest problem, in characters. */
const maxText = 300;

const checkedOnce = perObject((variables: Json[]) => checkDefinitions(variables, 'variables'));

/** Checks the definitions in one answer once, since hostile ones take seconds. */
function checked(variables: Json | undefined): CheckedDefinitions {
  return Array.isArray(variables) ? checkedOnce(variables) : checkDefinitions(variables, 'variables');
}

const maxUnevaluated = 20;

/**
 * The problems of the variables in an answer of DiscoverVariables: what Cluster API refuses, in its words; if there is
 * nothing, rules that are not evaluated here, as warnings.
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
    : unevaluated
        .flatMap(({ unknown }) => unknown)
        .slice(0, maxUnevaluated)
        .map((text) => ({ message: quotable(`${text}; try it in a cluster`, 2 * maxText), isWarning: true }));
}

/** A value that matches the type and the limits of a schema, as far as that is simple; undefined for an unknown type. */
function sampleValue(schema: JsonObject, depth = 0): Json | undefined {
  const { example, default: preset, enum: allowed, properties, required, minimum, maximum, minLength } = schema;
  const known = [example, preset, itemsAt(allowed)[0]].find((value) => value !== undefined && value !== '');
  if (known !== undefined && known !== null) {
    return known;
  }
  switch (schema.type) {
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return minimum ?? maximum ?? 1;
    case 'string':
      return 'sample'
        .padEnd(Math.min(Number(minLength ?? 0), maxSampleLength), 'x')
        .slice(0, Number(schema.maxLength ?? maxSampleLength));
    case 'array':
      return [];
    case 'object': {
      const names = depth < 8 ? itemsAt(required).slice(0, 100).map(String) : [];
      return Object.fromEntries(
        names.map((name) => [name, sampleValue(objectAt(properties, name), depth + 1) ?? null]),
      );
    }
    default:
      return undefined;
  }
}

/** How long the rules may take for all values that are made up, in ms. */
const maxRulesMs = 2_000;

/** Values for the variables that an extension defines, so that its patches have an effect: those that their schemas allow. */
export function sampleValues(variables: Json | undefined): JsonObject[] {
  const budget: Budget = { leftMs: maxRulesMs };
  const { causes, isComplete } = checked(variables);
  // Patterns and rules of schemas that are refused may be anything.
  const checkable = causes.length === 0 && isComplete ? itemsAt(variables).slice(0, maxVariables) : [];
  return checkable.flatMap((variable): JsonObject[] => {
    const name = textAt(variable, 'name');
    const schema = objectAt(variable, 'schema', 'openAPIV3Schema');
    const value = sampleValue(schema);
    try {
      return name === 'builtin' ||
        value === undefined ||
        valueCauses(name, value, readSchema(schema), name, { budget }).length > 0
        ? []
        : [{ name, value }];
    } catch (error) {
      if (error instanceof NotEvaluated) {
        return [];
      }
      throw error;
    }
  });
}
