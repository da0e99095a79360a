import { Optional } from '@marcbachmann/cel-js';
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

interface Variables {
  self: unknown;
  oldSelf: unknown;
}

interface Validation {
  causes: StatusCause[];
  seen: Seen;
  /** The value in messages, instead of the API server's. */
  shown: string | undefined;
  isRatcheting: boolean;
  cost: Cost;
  current: { rule: string; path: string };
}

function messageOf({ rule, message, messageExpression }: ValidationRule, variables: Variables, cost: Cost): string {
  if (messageExpression !== undefined) {
    try {
      const text = evaluate(messageExpression, { ...variables }, cost);
      if (typeof text === 'string' && text.trim() !== '') {
        return text.slice(0, maxMessage);
      }
    } catch (error) {
      if (error instanceof NotEvaluated) {
        throw error;
      }
      // The rule's fixed message is used instead.
    }
  }
  return message ?? `failed rule: ${rule.trim()}`;
}

interface RuleProblem {
  message: string;
  isViolation: boolean;
}

function variablesOf(
  { optionalOldSelf }: ValidationRule,
  value: Json,
  old: Json | undefined,
  schema: Schema,
  seen: Seen,
): Variables {
  const oldSelf = old === undefined ? undefined : celOf(old, schema, seen);
  const optional = oldSelf === undefined ? Optional.none() : Optional.of(oldSelf);
  return { self: celOf(value, schema, seen), oldSelf: optionalOldSelf === true ? optional : (oldSelf ?? null) };
}

function problemOf(rule: ValidationRule, variables: Variables, hasOld: boolean, cost: Cost): RuleProblem | undefined {
  if (!hasOld && rule.optionalOldSelf !== true && needsOld(rule)) {
    return undefined;
  }
  try {
    const holds = evaluate(rule.rule, { ...variables }, cost);
    return holds === true || holds === undefined
      ? undefined
      : { message: messageOf(rule, variables, cost), isViolation: true };
  } catch (error) {
    if (error instanceof NotEvaluated) {
      throw error;
    }
    return { message: `${failureOf(error)} evaluating rule: ${rule.message ?? rule.rule}`, isViolation: false };
  }
}

/** Messages show the type of a value whose rule cannot be evaluated, and of the others only scalars. */
function shownFor({ isViolation }: RuleProblem, value: Json, { type = '' }: Schema): string | undefined {
  if (!isViolation) {
    return JSON.stringify(type);
  }
  return typeof value === 'object' ? undefined : shorten(JSON.stringify(value));
}

function ruleCause(
  rule: ValidationRule,
  { message, isViolation }: RuleProblem,
  path: string,
  shown?: string,
): StatusCause {
  const reason = (isViolation && ruleReasons.find((known) => known === rule.reason)) || 'FieldValueInvalid';
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
  const { causes, seen } = validation;
  let same: boolean | undefined;
  const isSameAsOld = old === undefined ? isUnchanged : () => (same ??= isSame(value, old));
  const rules = rulesOf(schema);
  if (rules.length > 0) {
    const hasOld = old !== undefined && old !== null;
    for (const rule of rules) {
      validation.current = { rule: rule.rule, path };
      const problem =
        rule.holds === undefined
          ? problemOf(rule, variablesOf(rule, value, hasOld ? old : undefined, schema, seen), hasOld, validation.cost)
          : rule.holds(value)
            ? undefined
            : { message: rule.message ?? '', isViolation: true };
      if (problem !== undefined && (!validation.isRatcheting || needsOld(rule) || !isSameAsOld())) {
        causes.push(ruleCause(rule, problem, path, validation.shown ?? shownFor(problem, value, schema)));
      }
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
