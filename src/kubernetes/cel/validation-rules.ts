import { Optional } from '@marcbachmann/cel-js';
import { fieldErrorMessage, type StatusCause } from '../objects/errors/status.ts';
import { isJsonObject, type Json, type JsonObject, own } from '../objects/json/json.ts';
import { isSame } from '../objects/json/json-patch.ts';
import { perObject } from '../objects/per-object.ts';
import { fieldOf, joinPath, oldItems, partsOf, type Schema, shorten } from '../schema/index.ts';
import { celOf, type Seen } from './cel.ts';
import { type Budget, createEvaluator, failureOf, maxRulesMs, OutOfTime, within } from './evaluate.ts';
import { isTransition, ruleReasons, untypedEnvironment, type ValidationRule } from './rule-checks.ts';

const environment = untypedEnvironment();
const evaluate = createEvaluator(environment);

const needsOld = perObject(({ rule }: ValidationRule) => isTransition(rule, environment));

/** Whether a schema has rules (x-kubernetes-validations), at any depth. */
export const hasRules: (schema: Schema) => boolean = perObject(
  (schema: Schema) =>
    (schema['x-kubernetes-validations']?.length ?? 0) > 0 ||
    partsOf(schema as unknown as JsonObject, '').some(([part]) => hasRules(part as Schema)),
);

/** Whether a schema has rules that are expressions, at any depth. */
const hasExpressions: (schema: Schema) => boolean = perObject(
  (schema: Schema) =>
    ((schema['x-kubernetes-validations'] ?? []) as ValidationRule[]).some(({ holds }) => holds === undefined) ||
    partsOf(schema as unknown as JsonObject, '').some(([part]) => hasExpressions(part as Schema)),
);

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
  /** The rule that is evaluated now. */
  current: { rule: ValidationRule; path: string; type: string };
}

function messageOf({ rule, message, messageExpression }: ValidationRule, variables: Variables): string {
  if (messageExpression !== undefined) {
    try {
      const text = evaluate(messageExpression, { ...variables });
      if (typeof text === 'string' && text.trim() !== '') {
        return text.slice(0, maxMessage);
      }
    } catch {
      // The rule's fixed message is used instead.
    }
  }
  return message ?? `failed rule: ${rule.trim()}`;
}

/** A violated rule, or one that could not be evaluated. */
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

/** The problem of a value with a rule, if any. */
function problemOf(rule: ValidationRule, variables: Variables, hasOld: boolean): RuleProblem | undefined {
  if (!hasOld && rule.optionalOldSelf !== true && needsOld(rule)) {
    return undefined;
  }
  try {
    const holds = evaluate(rule.rule, { ...variables });
    return holds === true || holds === undefined
      ? undefined
      : { message: messageOf(rule, variables), isViolation: true };
  } catch (error) {
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
  const rules = (schema['x-kubernetes-validations'] ?? []) as ValidationRule[];
  if (rules.length > 0) {
    const hasOld = old !== undefined && old !== null;
    for (const rule of rules) {
      validation.current = { rule, path, type: schema.type ?? '' };
      const problem =
        rule.holds === undefined
          ? problemOf(rule, variablesOf(rule, value, hasOld ? old : undefined, schema, seen), hasOld)
          : rule.holds(value)
            ? undefined
            : { message: rule.message ?? '', isViolation: true };
      if (problem !== undefined && (!validation.isRatcheting || needsOld(rule) || !isSameAsOld())) {
        causes.push(ruleCause(rule, problem, path, validation.shown ?? shownFor(problem, value, schema)));
      }
    }
  }
  if (Array.isArray(value) && schema.items !== undefined) {
    const oldOf = oldItems(old, schema);
    for (const [index, item] of value.entries()) {
      validateAt(item, oldOf(item), schema.items, `${path}[${index}]`, validation, isSameAsOld);
    }
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      const field = fieldOf(schema, key);
      if (field !== undefined) {
        const before = isJsonObject(old) ? own(old, key) : undefined;
        validateAt(item, before, field, joinPath(path, key), validation, isSameAsOld);
      }
    }
  }
}

/**
 * Evaluates the rules of a schema. Transition rules are skipped without an old value; rules that this engine cannot
 * evaluate are always skipped.
 *
 * @param old the old value; undefined for a creation.
 * @param budget is shared with other evaluations; by default that of one object. The last cause says that it is used up.
 * @param shown what messages show, in quotes, as the value; by default a scalar itself (apiextensions-apiserver v0.36,
 *   pkg/apiserver/schema/cel/validation.go).
 * @param isRatcheting whether the problems of what stays as it was are none.
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
  }: { path?: string; budget?: Budget; shown?: string; isRatcheting?: boolean } = {},
): StatusCause[] {
  if (!hasRules(schema)) {
    return [];
  }
  const current = { rule: { rule: '' }, path, type: schema.type ?? '' };
  const validation: Validation = { causes: [], seen: new Map(), shown, isRatcheting, current };
  try {
    const evaluateAll = () => {
      validation.causes.length = 0;
      validateAt(value, old, schema, path, validation);
    };
    // A time limit costs more than rules that need none.
    if (hasExpressions(schema)) {
      within(budget, evaluateAll);
    } else {
      evaluateAll();
    }
  } catch (error) {
    if (!(error instanceof OutOfTime)) {
      throw error;
    }
    const { rule, path: at, type } = validation.current;
    const problem = { message: error.message, isViolation: false };
    validation.causes.push(ruleCause(rule, problem, at, shown ?? JSON.stringify(type)));
  }
  return validation.causes;
}
