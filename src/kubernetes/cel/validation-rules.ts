import { type EvaluationError, Optional } from '@marcbachmann/cel-js';
import { fieldErrorMessage, type StatusCause } from '../objects/errors/status.ts';
import { canonical, isJsonObject, type Json, type JsonObject, own } from '../objects/json/json.ts';
import { perObject } from '../objects/per-object.ts';
import { fieldOf, joinPath, partsOf, type Schema, shorten } from '../schema/index.ts';
import { celOf, type Seen } from './cel.ts';
import { type Budget, CostError, Meter, rulesBudget } from './cel-budget.ts';
import { untypedEnvironment } from './environment.ts';
import { isTransition, ruleReasons, type ValidationRule } from './rule.ts';

const environment = untypedEnvironment();
const meter = new Meter(environment);

const needsOld = perObject(({ rule }: ValidationRule) => isTransition(rule, environment));

/** Whether a schema has rules (x-kubernetes-validations), at any depth. */
export const hasRules: (schema: Schema) => boolean = perObject(
  (schema: Schema) =>
    (schema['x-kubernetes-validations']?.length ?? 0) > 0 ||
    partsOf(schema as unknown as JsonObject, '').some(([part]) => hasRules(part as Schema)),
);

/** Longest message that an expression may produce (apiserver, cel.MaxEvaluatedMessageExpressionSizeBytes). */
const maxMessage = 5 * 1024;

interface Variables {
  self: unknown;
  oldSelf: unknown;
}

class Validation {
  readonly causes: StatusCause[] = [];
  readonly budget: Budget;
  readonly seen: Seen = new Map();
  /** What messages show as the value, instead of what an API server does. */
  readonly shown: string | undefined;
  isOver = false;

  constructor(budget: Budget, shown: string | undefined) {
    this.budget = budget;
    this.shown = shown;
  }
}

function messageOf(
  { rule, message, messageExpression }: ValidationRule,
  variables: Variables,
  { budget }: Validation,
): string {
  if (messageExpression !== undefined) {
    try {
      const text = meter.evaluate(messageExpression, { ...variables }, budget);
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

/** The problem of a value with a rule, if any. */
function problemOf(
  rule: ValidationRule,
  variables: Variables,
  hasOld: boolean,
  validation: Validation,
): RuleProblem | undefined {
  if (!hasOld && rule.optionalOldSelf !== true && needsOld(rule)) {
    return undefined;
  }
  try {
    const holds = meter.evaluate(rule.rule, { ...variables }, validation.budget);
    return holds === true || holds === undefined
      ? undefined
      : { message: messageOf(rule, variables, validation), isViolation: true };
  } catch (error) {
    const about = rule.message ?? rule.rule;
    if (!(error instanceof CostError)) {
      return { message: `${(error as EvaluationError).summary} evaluating rule: ${about}`, isViolation: false };
    }
    validation.isOver = true;
    const message = error.isSpent
      ? error.message
      : `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${about}`;
    return { message, isViolation: false };
  }
}

/** Finds the old version of an item: in a list of type map, the item with the same keys. */
function previousItems(old: Json | undefined, schema: Schema): (item: Json) => Json | undefined {
  const keys = schema['x-kubernetes-list-type'] === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : [];
  if (keys.length === 0 || !Array.isArray(old)) {
    return () => undefined;
  }
  const identityOf = (item: JsonObject) => canonical(keys.map((key) => item[key] ?? null));
  const items = new Map(old.filter(isJsonObject).map((item) => [identityOf(item), item]));
  return (item) => (isJsonObject(item) ? items.get(identityOf(item)) : undefined);
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

function validateAt(value: Json, old: Json | undefined, schema: Schema, path: string, validation: Validation): void {
  if (value === null || validation.isOver || !hasRules(schema)) {
    return;
  }
  const { causes, seen } = validation;
  const rules = (schema['x-kubernetes-validations'] ?? []) as ValidationRule[];
  if (rules.length > 0) {
    const hasOld = old !== undefined && old !== null;
    const self = celOf(value, schema, seen);
    const oldSelf = hasOld ? celOf(old, schema, seen) : null;
    for (const rule of rules) {
      const optional = hasOld ? Optional.of(oldSelf) : Optional.none();
      const variables = { self, oldSelf: rule.optionalOldSelf === true ? optional : oldSelf };
      const problem = problemOf(rule, variables, hasOld, validation);
      if (problem !== undefined) {
        causes.push(ruleCause(rule, problem, path, validation.shown ?? shownFor(problem, value, schema)));
      }
      if (validation.isOver) {
        return;
      }
    }
  }
  if (Array.isArray(value) && schema.items !== undefined) {
    const previous = previousItems(old, schema);
    for (const [index, item] of value.entries()) {
      validateAt(item, previous(item), schema.items, `${path}[${index}]`, validation);
    }
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      const field = fieldOf(schema, key);
      if (field !== undefined) {
        const before = isJsonObject(old) ? own(old, key) : undefined;
        validateAt(item, before, field, joinPath(path, key), validation);
      }
    }
  }
}

/**
 * Evaluates the rules of a schema. Transition rules are skipped without an old value; rules that this engine cannot
 * evaluate are always skipped.
 *
 * @param old the old value; undefined for a creation.
 * @param budget is shared with other evaluations; by default that of one object.
 * @param shown what messages show, in quotes, as the value; by default a scalar itself (apiextensions-apiserver v0.36,
 *   pkg/apiserver/schema/cel/validation.go).
 */
export function validateRules(
  value: Json,
  old: Json | undefined,
  schema: Schema,
  { path = '', budget = { left: rulesBudget }, shown }: { path?: string; budget?: Budget; shown?: string } = {},
): StatusCause[] {
  const validation = new Validation(budget, shown);
  validateAt(value, old, schema, path, validation);
  return validation.causes;
}
