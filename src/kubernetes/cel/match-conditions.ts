import { Environment } from '@marcbachmann/cel-js';
import type { StatusCause } from '../objects/errors/status.ts';
import { type Json, type JsonObject, objectsAt } from '../objects/json/json.ts';
import { causeOf, duplicate, invalid, required } from '../schema/index.ts';
import { celOf, decisionProblem } from './cel.ts';
import { maxConditionsCost } from './cost.ts';
import { createEvaluator, failureOf, maxRulesMs, within } from './evaluate.ts';

/** A CEL expression about the request to a webhook (admissionregistration.k8s.io/v1). */
export interface MatchCondition {
  name: string;
  expression: string;
}

export class UndecidedConditions extends Error {}

const maxConditions = 64;

const environment = new Environment()
  .registerVariable('object', 'dyn')
  .registerVariable('oldObject', 'dyn')
  .registerVariable('request', 'dyn');
const evaluate = createEvaluator(environment);

export function* matchConditionCauses(value: Json | undefined, field: string): Generator<StatusCause> {
  const conditions = objectsAt(value ?? undefined);
  if (conditions.length > maxConditions) {
    yield causeOf('FieldValueTooMany', field, conditions.length, `must have at most ${maxConditions} items`);
    return;
  }
  const names = new Set<string>();
  for (const [index, { name, expression }] of conditions.entries()) {
    const at = `${field}[${index}]`;
    if (typeof name !== 'string' || name === '') {
      yield required(`${at}.name`);
    } else if (names.has(name)) {
      yield duplicate(`${at}.name`, name);
    } else {
      names.add(name);
    }
    if (typeof expression !== 'string' || expression.trim() === '') {
      yield required(`${at}.expression`);
      continue;
    }
    const problem = decisionProblem(environment.check(expression));
    if (problem !== undefined) {
      yield invalid(`${at}.expression`, expression, problem);
    }
  }
}

/** Whether all conditions of a webhook are true. @throws {UndecidedConditions} if none is false and one cannot be evaluated. */
export function matchesConditions(conditions: readonly MatchCondition[], request: JsonObject): boolean {
  const { object = null, oldObject = null, ...rest } = request;
  const variables = { object: celOf(object), oldObject: celOf(oldObject), request: celOf(rest) };
  const budget = { leftMs: maxRulesMs };
  const cost = { left: maxConditionsCost };
  const failures: string[] = [];
  for (const { name, expression } of conditions) {
    try {
      const result = within(budget, () => evaluate(expression, variables, cost));
      if (result === false) {
        return false;
      }
      if (result !== true) {
        failures.push(`${name}: is not a bool`);
      }
    } catch (error) {
      failures.push(`${name}: ${failureOf(error)}`);
    }
  }
  if (failures.length > 0) {
    throw new UndecidedConditions(`match conditions could not be evaluated: ${failures.join('; ')}`);
  }
  return true;
}
