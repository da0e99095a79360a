import { isJsonObject, type JsonObject } from '../kubernetes/index.ts';
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

/** The reasons that a rule may give. */
export const ruleReasons = [
  'FieldValueInvalid',
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueRequired',
] as const;

/** A rule with the schema that it belongs to. */
export interface PlacedRule {
  rule: ValidationRule;
  /** The path of the rule. */
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
    for (const [index, rule] of (Array.isArray(given) ? given : []).entries()) {
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

/** Whether a rule uses `oldSelf`, which makes it a transition rule. */
export function isTransition(rule: string): boolean {
  return /\boldSelf\b/.test(rule);
}
