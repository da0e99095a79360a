import { Environment, type EvaluationError, Optional, type ParseResult } from '@marcbachmann/cel-js';
import { isJsonObject, type Json, type JsonObject, type StatusCause } from '../kubernetes/index.ts';
import { fieldOf, propertyOf, type Schema } from './schema.ts';
import { partsOf } from './structural.ts';

/**
 * A rule of a CustomResourceDefinition over the values that a schema describes (x-kubernetes-validations).
 *
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules
 */
export interface ValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

const environment = new Environment({ enableOptionalTypes: true })
  .registerVariable('self', 'dyn')
  .registerVariable('oldSelf', 'dyn');

/** Compiled once; undefined for what this engine cannot evaluate. */
const compiled = new Map<string, ParseResult | undefined>();

function compile(expression: string): ParseResult | undefined {
  if (!compiled.has(expression)) {
    compiled.set(expression, environment.check(expression).valid ? environment.parse(expression) : undefined);
  }
  return compiled.get(expression);
}

/** The rules of every schema within a schema, with the path of the schema. */
function rulesIn(schema: JsonObject, path: string): [ValidationRule, string][] {
  const given = schema['x-kubernetes-validations'];
  const own = (Array.isArray(given) ? given.filter(isJsonObject) : []).map((rule, index): [ValidationRule, string] => [
    rule as unknown as ValidationRule,
    `${path}.x-kubernetes-validations[${index}]`,
  ]);
  return [...own, ...partsOf(schema, path).flatMap(([part, at]) => rulesIn(part, at))];
}

/** Why a rule of a definition cannot be compiled, and which rules are good CEL that this engine cannot evaluate. */
export function checkRules(schema: JsonObject, path: string): { causes: StatusCause[]; unknown: string[] } {
  const causes: StatusCause[] = [];
  const unknown: string[] = [];
  for (const [{ rule }, at] of rulesIn(schema, path)) {
    const field = `${at}.rule`;
    if (typeof rule !== 'string' || rule.trim() === '') {
      causes.push({ reason: 'FieldValueRequired', message: 'Required value: rule is not specified', field });
      continue;
    }
    const { valid, type, error } = environment.check(rule);
    if (!valid && error?.code === 'no_matching_overload') {
      unknown.push(`${field} is not evaluated here: ${error.summary}`);
    } else if (!valid || (type !== 'bool' && type !== 'dyn')) {
      const why = valid ? `must evaluate to bool, not ${type}` : `compilation failed: ${error?.summary}`;
      causes.push({ reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(rule)}: ${why}`, field });
    }
  }
  return { causes, unknown };
}

const withRules = new WeakMap<Schema, boolean>();

function hasRules(schema: Schema): boolean {
  let known = withRules.get(schema);
  if (known === undefined) {
    known = rulesIn(schema as unknown as JsonObject, '').length > 0;
    withRules.set(schema, known);
  }
  return known;
}

/** Words of CEL that cannot be names of fields there. */
const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return'.split(' '),
);

/** The name of a property in an expression. */
function celName(name: string): string {
  if (reserved.has(name)) {
    return `__${name}__`;
  }
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}

/** A value as an expression sees it: by its schema, because JSON does not tell integers from other numbers. */
function celOf(value: Json, schema: Schema | undefined): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => celOf(item, schema?.items));
  }
  if (isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const isProperty = schema !== undefined && propertyOf(schema, key) !== undefined;
        return [isProperty ? celName(key) : key, celOf(item, fieldOf(schema, key))];
      }),
    );
  }
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && schema?.type !== 'number' ? BigInt(value) : value;
  }
  if (typeof value === 'string' && (schema?.format === 'date-time' || schema?.format === 'date')) {
    return new Date(value);
  }
  return value;
}

const prefixes: Record<string, (type: string) => string> = {
  FieldValueInvalid: (type) => `Invalid value: ${JSON.stringify(type)}: `,
  FieldValueDuplicate: (type) => `Duplicate value: ${JSON.stringify(type)}: `,
  FieldValueForbidden: () => 'Forbidden: ',
  FieldValueRequired: () => 'Required value: ',
};

interface Variables {
  self: unknown;
  oldSelf: unknown;
}

function messageOf({ rule, message, messageExpression }: ValidationRule, variables: Variables): string {
  if (messageExpression !== undefined) {
    try {
      const text: unknown = compile(messageExpression)?.({ ...variables });
      if (typeof text === 'string' && text.trim() !== '') {
        return text;
      }
    } catch {
      // What the rule says without it.
    }
  }
  return message ?? `failed rule: ${rule.trim()}`;
}

/** What a rule has against a value; `old` is undefined where there is none. */
function problemOf(rule: ValidationRule, variables: Variables, hasOld: boolean): string | undefined {
  const evaluate = compile(rule.rule);
  if (evaluate === undefined || (isTransition(rule.rule) && !hasOld && rule.optionalOldSelf !== true)) {
    return undefined;
  }
  try {
    return evaluate({ ...variables }) === true ? undefined : messageOf(rule, variables);
  } catch (error) {
    return `${(error as EvaluationError).summary} evaluating rule: ${rule.message ?? rule.rule}`;
  }
}

/** Whether a rule compares with what was before. */
function isTransition(rule: string): boolean {
  return /\boldSelf\b/.test(rule);
}

function previousItem(old: Json | undefined, item: Json, schema: Schema): Json | undefined {
  const keys = schema['x-kubernetes-list-type'] === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : [];
  if (keys.length === 0 || !Array.isArray(old) || !isJsonObject(item)) {
    return undefined;
  }
  return old.find((other) => isJsonObject(other) && keys.every((key) => other[key] === item[key]));
}

function causeOf(rule: ValidationRule, problem: string, schema: Schema, path: string): StatusCause {
  const reason = rule.reason !== undefined && Object.hasOwn(prefixes, rule.reason) ? rule.reason : 'FieldValueInvalid';
  const prefix = prefixes[reason]?.(schema.type ?? 'object') ?? '';
  const field = `${path}${rule.fieldPath ?? ''}`.replace(/^\./, '');
  return { reason, message: `${prefix}${problem}`, field: field === '' ? '<nil>' : field };
}

function validateAt(value: Json, old: Json | undefined, schema: Schema, path: string, causes: StatusCause[]): void {
  if (value === null || !hasRules(schema)) {
    return;
  }
  const rules = (schema['x-kubernetes-validations'] ?? []) as ValidationRule[];
  if (rules.length > 0) {
    const hasOld = old !== undefined && old !== null;
    const self = celOf(value, schema);
    const oldSelf = hasOld ? celOf(old, schema) : null;
    for (const rule of rules) {
      const optional = hasOld ? Optional.of(oldSelf) : Optional.none();
      const variables = { self, oldSelf: rule.optionalOldSelf === true ? optional : oldSelf };
      const problem = problemOf(rule, variables, hasOld);
      if (problem !== undefined) {
        causes.push(causeOf(rule, problem, schema, path));
      }
    }
  }
  if (Array.isArray(value) && schema.items !== undefined) {
    for (const [index, item] of value.entries()) {
      validateAt(item, previousItem(old, item, schema), schema.items, `${path}[${index}]`, causes);
    }
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      const field = fieldOf(schema, key);
      if (field !== undefined) {
        const before = isJsonObject(old) && Object.hasOwn(old, key) ? old[key] : undefined;
        validateAt(item, before, field, path === '' ? key : `${path}.${key}`, causes);
      }
    }
  }
}

/**
 * Evaluates the rules of a schema. Rules that compare with `oldSelf` are skipped where nothing was before; rules that this
 * engine cannot evaluate, always.
 *
 * @param old what is replaced; undefined for a creation.
 */
export function validateRules(value: Json, old: Json | undefined, schema: Schema): StatusCause[] {
  const causes: StatusCause[] = [];
  validateAt(value, old, schema, '', causes);
  return causes;
}
