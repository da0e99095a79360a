import { compilePattern, isJsonObject, type Json, type JsonObject, PatternError } from '../kubernetes/index.ts';
import { quotable } from '../runtime/index.ts';

/** Maximum number of variables in one answer that are examined. */
const maxVariables = 500;
/** Maximum number of subschemas of all variables that are examined. */
const maxParts = 20_000;
/** Maximum number of instructions of all patterns in one answer that are compiled: each takes some 10 µs. */
const maxInstructions = 100_000;
/** Longest text that is generated as a value, in characters. */
const maxSampleLength = 256;

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

/** Whether a value has a JSON Schema type; any value does if there is no type. */
function isOfType(value: Json, type: Json | undefined): boolean {
  switch (type) {
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isJsonObject(value);
    case 'integer':
      return Number.isInteger(value);
    case 'number':
    case 'string':
    case 'boolean':
      return typeof value === type;
    default:
      return true;
  }
}

/** The cost of the patterns in one answer so far. */
interface PatternBudget {
  instructions: number;
}

/** The problem with a pattern, which Cluster API compiles as RE2; also undefined once the budget is used up. */
function patternProblem(pattern: string, budget: PatternBudget): string | undefined {
  if (budget.instructions > maxInstructions) {
    return undefined;
  }
  try {
    // A pattern that is rejected has a cost, too.
    budget.instructions += 10 + pattern.length;
    budget.instructions += compilePattern(pattern).size;
    return undefined;
  } catch (error) {
    if (error instanceof PatternError) {
      return quotable(error.message, 200);
    }
    throw error;
  }
}

const pairs = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
] as const;

/** The problems with one schema, not counting its subschemas. */
function* partProblems(schema: JsonObject, budget: PatternBudget): Generator<string> {
  const { type, items, properties, additionalProperties, required, enum: allowed, pattern } = schema;
  const isOpen =
    schema['x-kubernetes-preserve-unknown-fields'] === true || schema['x-kubernetes-int-or-string'] === true;
  if (typeof type !== 'string' || type === '') {
    if (!isOpen) {
      yield 'has no type';
    }
  } else if (!types.includes(type)) {
    yield `has the type ${JSON.stringify(quotable(type, 50))}: it must be one of ${types.join(', ')}`;
  }
  if (type === 'array' && !isJsonObject(items)) {
    yield 'is an array without items';
  }
  if (isJsonObject(properties) && isJsonObject(additionalProperties)) {
    yield 'has both properties and additionalProperties';
  }
  if (Array.isArray(required) && isJsonObject(properties)) {
    const missing = required.find((name) => typeof name === 'string' && !Object.hasOwn(properties, name));
    if (typeof missing === 'string') {
      yield `requires ${quotable(missing, 100)}, which is not one of its properties`;
    }
  }
  if (typeof pattern === 'string') {
    const problem = patternProblem(pattern, budget);
    if (problem !== undefined) {
      yield `has a pattern that is not RE2: ${problem}`;
    }
  }
  for (const [least, most] of pairs) {
    if (typeof schema[least] === 'number' && typeof schema[most] === 'number' && schema[least] > schema[most]) {
      yield `has ${least} ${schema[least]} above ${most} ${schema[most]}`;
    }
  }
  for (const name of ['default', 'example'] as const) {
    const value = schema[name];
    if (value !== undefined && value !== null && !isOpen) {
      if (!isOfType(value, type)) {
        yield `has a ${name} that is not of type ${type}`;
      } else if (Array.isArray(allowed) && !allowed.some((one) => JSON.stringify(one) === JSON.stringify(value))) {
        yield `has a ${name} that its enum does not allow`;
      }
    }
  }
}

/**
 * The problems with the variables in a DiscoverVariables answer, by the rules for ClusterClass variables, one line
 * each.
 */
export function variableProblems(variables: Json | undefined): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  let parts = 0;
  const budget: PatternBudget = { instructions: 0 };
  const look = (schema: Json | undefined, path: string): void => {
    if (!isJsonObject(schema) || ++parts > maxParts) {
      return;
    }
    for (const problem of partProblems(schema, budget)) {
      problems.push(`${path} ${problem}`);
    }
    for (const [name, field] of Object.entries(isJsonObject(schema.properties) ? schema.properties : {})) {
      look(field, `${path}.${quotable(name, 60)}`);
    }
    look(schema.items, `${path}[]`);
    look(schema.additionalProperties, `${path}.*`);
  };
  const list = Array.isArray(variables) ? variables : [];
  if (list.length > maxVariables) {
    problems.push(`there are ${list.length} variables; only the first ${maxVariables} were checked`);
  }
  for (const [index, variable] of list.slice(0, maxVariables).entries()) {
    const { name, schema } = isJsonObject(variable) ? variable : {};
    const shown = `variables[${index}]${typeof name === 'string' ? ` (${quotable(name, 60)})` : ''}`;
    if (typeof name !== 'string' || name === '' || name.length > 256) {
      problems.push(`${shown}: the name must have 1 to 256 characters`);
    } else if (name === 'builtin' || name.includes('.')) {
      problems.push(`${shown}: the name must not be builtin, and must have no dot`);
    } else if (seen.has(name)) {
      problems.push(`${shown}: another variable has the same name`);
    }
    seen.add(String(name));
    const root = isJsonObject(schema) ? schema.openAPIV3Schema : undefined;
    if (isJsonObject(root)) {
      look(root, shown);
    } else {
      problems.push(`${shown}: schema.openAPIV3Schema must be set`);
    }
  }
  return problems;
}

/** A value that matches the type and limits of a schema; undefined for schemas with further constraints. */
function sampleValue(schema: JsonObject, depth = 0): Json | undefined {
  const { example, default: preset, enum: allowed, type, pattern, properties, required } = schema;
  const given = [example, preset, Array.isArray(allowed) ? allowed[0] : undefined].find(
    (value) => value !== undefined && value !== null && value !== '',
  );
  if (given !== undefined) {
    return given;
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
        const made = isJsonObject(field) ? sampleValue(field, depth + 1) : undefined;
        if (made === undefined) {
          return undefined;
        }
        Object.defineProperty(value, name as string, { value: made, enumerable: true });
      }
      return value;
    }
    default:
      return undefined;
  }
}

/** Values for the variables that an extension defines, so that its patches have an effect. */
export function sampleValues(variables: Json | undefined): JsonObject[] {
  return (Array.isArray(variables) ? variables.slice(0, maxVariables) : []).flatMap((variable): JsonObject[] => {
    const { name, schema } = isJsonObject(variable) ? variable : {};
    const root = isJsonObject(schema) ? schema.openAPIV3Schema : undefined;
    const value = isJsonObject(root) ? sampleValue(root) : undefined;
    return typeof name === 'string' && name !== 'builtin' && value !== undefined ? [{ name, value }] : [];
  });
}
