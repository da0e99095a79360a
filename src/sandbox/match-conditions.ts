import { Environment, type EvaluationError, type ParseResult } from '@marcbachmann/cel-js';
import { isJsonObject, type Json, type JsonObject, type StatusCause } from '../kubernetes/index.ts';

/** A condition of a webhook: CEL over the request (admissionregistration.k8s.io/v1, MatchCondition). */
export interface MatchCondition {
  name: string;
  expression: string;
}

/** The conditions of a webhook say neither yes nor no. */
export class UndecidedConditions extends Error {}

/** Most conditions of one webhook. */
const maxConditions = 64;

const environment = new Environment()
  .registerVariable('object', 'dyn')
  .registerVariable('oldObject', 'dyn')
  .registerVariable('request', 'dyn');

/** Compiled once: stored objects do not change. */
const compiled = new WeakMap<MatchCondition, ParseResult>();

function compile(condition: MatchCondition): ParseResult {
  const known = compiled.get(condition) ?? environment.parse(condition.expression);
  compiled.set(condition, known);
  return known;
}

/** A JSON value as CEL sees it: whole numbers are integers there, which are bigints here. */
function celValue(value: Json): unknown {
  if (Array.isArray(value)) {
    return value.map(celValue);
  }
  if (isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, celValue(item)]));
  }
  return Number.isSafeInteger(value) ? BigInt(value as number) : value;
}

/** Why an expression cannot be a condition, or undefined. */
function problemOf(expression: string): string | undefined {
  const { valid, type, error } = environment.check(expression);
  if (!valid) {
    return `compilation failed: ${error?.summary ?? 'unknown error'}`;
  }
  return type === 'bool' || type === 'dyn' ? undefined : `must evaluate to bool, not ${type}`;
}

/** What is wrong with the matchConditions of a webhook at `field`. */
export function matchConditionCauses(given: Json | undefined, field: string): StatusCause[] {
  if (given === undefined || given === null) {
    return [];
  }
  const conditions = Array.isArray(given) ? given.filter(isJsonObject) : [];
  const causes: StatusCause[] = [];
  if (conditions.length > maxConditions) {
    const message = `Too many: ${conditions.length}: must have at most ${maxConditions} items`;
    causes.push({ reason: 'FieldValueTooMany', message, field });
  }
  for (const [index, { name, expression }] of conditions.entries()) {
    const at = `${field}[${index}]`;
    if (typeof name !== 'string' || name === '') {
      causes.push({ reason: 'FieldValueRequired', message: 'Required value', field: `${at}.name` });
    } else if (conditions.findIndex((other) => other.name === name) < index) {
      const message = `Duplicate value: ${JSON.stringify(name)}`;
      causes.push({ reason: 'FieldValueDuplicate', message, field: `${at}.name` });
    }
    if (typeof expression !== 'string' || expression.trim() === '') {
      causes.push({ reason: 'FieldValueRequired', message: 'Required value', field: `${at}.expression` });
      continue;
    }
    const problem = problemOf(expression);
    if (problem !== undefined) {
      const message = `Invalid value: ${JSON.stringify(expression)}: ${problem}`;
      causes.push({ reason: 'FieldValueInvalid', message, field: `${at}.expression` });
    }
  }
  return causes;
}

/**
 * Whether a webhook is to be asked about a request: all its conditions are true. One that is false decides, even where
 * another cannot be evaluated.
 *
 * @param request that of the AdmissionReview.
 * @throws {UndecidedConditions} when none is false and one cannot be evaluated.
 */
export function matchesConditions(conditions: readonly MatchCondition[], request: JsonObject): boolean {
  const { object = null, oldObject = null, ...rest } = request;
  const variables = { object: celValue(object), oldObject: celValue(oldObject), request: celValue(rest) };
  const failures: string[] = [];
  for (const condition of conditions) {
    const { name } = condition;
    try {
      const result: unknown = compile(condition)(variables);
      if (result === false) {
        return false;
      }
      if (result !== true) {
        failures.push(`${name}: is no bool`);
      }
    } catch (error) {
      failures.push(`${name}: ${(error as EvaluationError).summary}`);
    }
  }
  if (failures.length > 0) {
    throw new UndecidedConditions(`match conditions could not be evaluated: ${failures.join('; ')}`);
  }
  return true;
}
