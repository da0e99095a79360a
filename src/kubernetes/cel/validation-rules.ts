import { type Context, Optional } from '@marcbachmann/cel-js';
import { fieldErrorMessage, type StatusCause } from '../objects/errors/status.ts';
import { isJsonObject, type Json, own } from '../objects/json/json.ts';
import { isSame } from '../objects/json/json-patch.ts';
import { perObject } from '../objects/per-object.ts';
import { joinPath, ofAnyPart, oldItems, partsIn, type Schema, shorten } from '../schema/index.ts';
import { celOf, type Seen } from './cel.ts';
import { maxObjectCost } from './cost.ts';
import { type Budget, type Cost, createEvaluator, failureOf, maxRulesMs, NotEvaluated, within } from './evaluate.ts';
import { isTransition, ruleReasons, untypedEnvironment, type ValidationRule } from './rule-checks.ts';

const environment = untypedEnvironment();
const evaluate = createEvaluator(environment);

const needsOld = perObject(({ rule }: ValidationRule) => isTransition(rule, environment));

const rulesOf = (schema: Schema) => (schema['x-kubernetes-validations'] ?? []) as ValidationRule[];

/** Whether a schema has rules (x-kubernetes-validations), at any depth; and whether it has any that are expressions. */
export const hasRules = ofAnyPart((schema) => rulesOf(schema).length > 0);
const hasExpressions = ofAnyPart((schema) => rulesOf(schema).some(({ holds }) => holds === undefined));

/** Longest message that an expression may produce (apiserver, cel.MaxEvaluatedMessageExpressionSizeBytes). */
const maxMessage = 5 * 1024;

interface Validation {
  causes: StatusCause[];
  seen: Seen;
  /** The value in messages, instead of the API server's. */
  shown: string | undefined;
  isRatcheting: boolean;
  cost: Cost;
  current: { rule: string; path: string };
}

/** Fails with what was not evaluated to its end; else with nothing. */
function throwNotEvaluated(error: unknown): void {
  if (error instanceof NotEvaluated) {
    throw error;
  }
}

function messageOf({ rule, message, messageExpression }: ValidationRule, variables: Context, cost: Cost): string {
  try {
    const text = messageExpression === undefined ? '' : evaluate(messageExpression, { ...variables }, cost);
    if (typeof text === 'string' && text.trim() !== '') {
      return text.slice(0, maxMessage);
    }
  } catch (error) {
    throwNotEvaluated(error);
  }
  return message ?? `failed rule: ${rule.trim()}`;
}

interface RuleProblem {
  message: string;
  isViolation: boolean;
}

function problemOf(
  rule: ValidationRule,
  value: Json,
  old: Json | undefined,
  schema: Schema,
  { seen, cost }: Validation,
): RuleProblem | undefined {
  if (rule.holds !== undefined) {
    return rule.holds(value) ? undefined : { message: rule.message ?? '', isViolation: true };
  }
  const isOptional = rule.optionalOldSelf === true;
  if (old === undefined && !isOptional && needsOld(rule)) {
    return undefined;
  }
  const oldSelf = old === undefined ? undefined : celOf(old, schema, seen);
  const optional = oldSelf === undefined ? Optional.none() : Optional.of(oldSelf);
  const variables = { self: celOf(value, schema, seen), oldSelf: isOptional ? optional : (oldSelf ?? null) };
  try {
    const holds = evaluate(rule.rule, { ...variables }, cost);
    const isViolation = holds !== true && holds !== undefined;
    return isViolation ? { message: messageOf(rule, variables, cost), isViolation } : undefined;
  } catch (error) {
    throwNotEvaluated(error);
    return { message: `${failureOf(error)} evaluating rule: ${rule.message ?? rule.rule}`, isViolation: false };
  }
}

/** By default, messages show the type of a value whose rule cannot be evaluated, and of the others only scalars. */
function ruleCause(
  rule: ValidationRule,
  { message, isViolation }: RuleProblem,
  path: string,
  value: Json,
  { type = '' }: Schema,
  given: string | undefined,
): StatusCause {
  const reason = (isViolation && ruleReasons.find((known) => known === rule.reason)) || 'FieldValueInvalid';
  const scalar = typeof value === 'object' ? undefined : shorten(JSON.stringify(value));
  const shown = given ?? (isViolation ? scalar : JSON.stringify(type));
  const showsValue = reason === 'FieldValueInvalid' || reason === 'FieldValueDuplicate';
  const field = `${path}${isViolation ? (rule.fieldPath ?? '') : ''}`.replace(/^\./, '');
  return {
    reason,
    message: fieldErrorMessage(reason, showsValue ? shown : undefined, message),
    field: field === '' ? '<nil>' : field,
  };
}

/**
 * @param isUnchanged whether the value, or that nearest around it which has an old one, is as it was: its problems are no
 *   causes then, but those of transition rules (ratcheting validation).
 */
function validateAt(
  value: Json,
  old: Json | undefined,
  schema: Schema,
  path: string,
  validation: Validation,
  isUnchanged: () => boolean = () => false,
): void {
  if (value === null || !hasRules(schema)) {
    return;
  }
  let same: boolean | undefined;
  const isSameAsOld = old === undefined ? isUnchanged : () => (same ??= isSame(value, old));
  for (const rule of rulesOf(schema)) {
    validation.current = { rule: rule.rule, path };
    const problem = problemOf(rule, value, old ?? undefined, schema, validation);
    if (problem !== undefined && (!validation.isRatcheting || needsOld(rule) || !isSameAsOld())) {
      validation.causes.push(ruleCause(rule, problem, path, value, schema, validation.shown));
    }
  }
  const oldOf = oldItems(old, schema);
  for (const { key, part, schema: inner } of partsIn(value, schema)) {
    if (inner !== undefined) {
      const before = typeof key === 'number' ? oldOf(part) : isJsonObject(old) ? own(old, key) : undefined;
      validateAt(part, before, inner, joinPath(path, key), validation, isSameAsOld);
    }
  }
}

/**
 * Evaluates the rules of a schema. Transition rules are skipped without an old value; rules that this engine cannot evaluate
 * are always skipped.
 *
 * @param budget the time, if it is shared with other evaluations.
 * @param shown what messages show, in quotes, as the value; by default a scalar itself.
 * @param isRatcheting whether the problems of what stays as it was are none.
 * @param maxCost of all rules together; by default what they may cost for an object or a variable.
 * @throws {NotEvaluated} with the rule and its field, when the time is over, or the cost may exceed Kubernetes' limits.
 */
export function validateRules(
  value: Json,
  old: Json | undefined,
  schema: Schema,
  {
    path = '',
    budget = { leftMs: maxRulesMs },
    shown,
    isRatcheting = true,
    maxCost = maxObjectCost,
  }: { path?: string; budget?: Budget; shown?: string; isRatcheting?: boolean; maxCost?: number } = {},
): StatusCause[] {
  if (!hasRules(schema)) {
    return [];
  }
  const current = { rule: '', path };
  const validation: Validation = { causes: [], seen: new Map(), shown, isRatcheting, cost: { left: 0 }, current };
  try {
    const evaluateAll = () => {
      validation.causes.length = 0;
      validation.cost.left = maxCost;
      validateAt(value, old, schema, path, validation);
    };
    // A time limit costs more than rules that need none.
    if (hasExpressions(schema)) {
      within(budget, evaluateAll);
    } else {
      evaluateAll();
    }
  } catch (error) {
    if (!(error instanceof NotEvaluated)) {
      throw error;
    }
    const { rule, path: at } = validation.current;
    const what = rule === '' ? 'a rule' : `the rule ${JSON.stringify(shorten(rule))}`;
    throw new NotEvaluated(`${at || 'the object'}: ${what} ${error.message}`);
  }
  return validation.causes;
}
