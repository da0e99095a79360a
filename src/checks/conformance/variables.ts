import { type Budget, NotEvaluated } from '../../kubernetes/cel/index.ts';
import { itemsAt, type Json, type JsonObject, objectAt, perObject, textAt } from '../../kubernetes/index.ts';
import { quotable } from '../../runtimehooks/client/index.ts';
import { checkDefinitions, readSchema, valueCauses } from '../../runtimehooks/variables/index.ts';

const maxVariables = 500;
/** Longest text that is made up as a value, in characters. */
const maxSampleLength = 256;
const maxText = 300;
const maxUnevaluated = 20;

/** Once for each answer, since hostile definitions take seconds. */
const checked = perObject(({ variables }: JsonObject) => checkDefinitions(variables, 'variables'));

/** What Cluster API refuses of the variables in an answer, in its words; else, as warnings, rules that are not evaluated here. */
export function variableProblems(response: JsonObject): { message: string; isWarning?: boolean }[] {
  const { causes, isComplete, unevaluated } = checked(response);
  if (causes.length > 0) {
    return causes.map(({ field = '', message }) => ({
      message: quotable(`${field.slice(0, maxText)}: ${message.slice(0, maxText)}`, 2 * maxText),
    }));
  }
  const texts = unevaluated.flatMap(({ unknown }) => unknown.map((text) => `${text}; try it in a cluster`));
  return (isComplete ? texts : ['the schemas take too much work to check all of them'])
    .slice(0, maxUnevaluated)
    .map((text) => ({ message: quotable(text, 2 * maxText), isWarning: true }));
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
export function sampleValues(response: JsonObject): JsonObject[] {
  const budget: Budget = { leftMs: maxRulesMs };
  const { causes, isComplete } = checked(response);
  // Patterns and rules of schemas that are refused may be anything.
  const checkable = causes.length === 0 && isComplete ? itemsAt(response, 'variables').slice(0, maxVariables) : [];
  return checkable.flatMap((variable): JsonObject[] => {
    const name = textAt(variable, 'name');
    const schema = objectAt(variable, 'schema', 'openAPIV3Schema');
    const value = sampleValue(schema);
    if (name === 'builtin' || value === undefined) {
      return [];
    }
    try {
      return valueCauses(name, value, readSchema(schema), name, { budget }).length > 0 ? [] : [{ name, value }];
    } catch (error) {
      if (error instanceof NotEvaluated) {
        return [];
      }
      throw error;
    }
  });
}
