import type { Environment } from '@marcbachmann/cel-js';
import { isJsonObject, itemsAt, type JsonObject } from '../objects/json/json.ts';
import { partsOf } from '../schema/index.ts';

/**
 * A rule over the values that a schema describes (x-kubernetes-validations).
 *
 * @see
 *   https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules
 */
export interface ValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

export const ruleReasons = [
  'FieldValueInvalid',
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueRequired',
] as const;

export interface PlacedRule {
  rule: ValidationRule;
  path: string;
  schema: JsonObject;
  /** The path of the outermost `items` that the schema is within. */
  list: string | undefined;
}

/** The rules of every schema within a schema, with the path of the schema. */
export function rulesIn(schema: JsonObject, path: string): PlacedRule[] {
  const rules: PlacedRule[] = [];
  const look = (part: JsonObject, at: string, list: string | undefined): void => {
    const given = part['x-kubernetes-validations'];
    for (const [index, rule] of itemsAt(given).entries()) {
      if (isJsonObject(rule)) {
        const placed = { path: `${at}.x-kubernetes-validations[${index}]`, schema: part, list };
        rules.push({ rule: rule as unknown as ValidationRule, ...placed });
      }
    }
    for (const [inner, innerAt, kind] of partsOf(part, at)) {
      look(inner, innerAt, list ?? (kind === 'array items' ? innerAt : undefined));
    }
  };
  look(schema, path, undefined);
  return rules;
}

/**
 * Whether a rule uses the variable `oldSelf`, and not a text or a field of that name, which makes it a transition rule.
 *
 * @param environment parses it. An expression that cannot be parsed counts if it has the word.
 */
export function isTransition(rule: string, environment: Pick<Environment, 'parse'>): boolean {
  if (!/\boldSelf\b/.test(rule)) {
    return false;
  }
  const parts: unknown[] = [];
  try {
    parts.push(environment.parse(rule).ast);
  } catch {
    return true;
  }
  for (const part of parts) {
    if (Array.isArray(part)) {
      parts.push(...part);
    } else if (typeof part === 'object' && part !== null && 'op' in part && 'args' in part) {
      if (part.op === 'id' && part.args === 'oldSelf') {
        return true;
      }
      parts.push(part.args);
    }
  }
  return false;
}
