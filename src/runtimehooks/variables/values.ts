import { truncated } from '../../base/index.ts';
import { type Budget, validateRules } from '../../kubernetes/cel/index.ts';
import { asGoWrites, canonical, copyOf, type Json, type JsonObject, type StatusCause } from '../../kubernetes/index.ts';
import { applyDefaults, prune, type Schema, validateSchema } from '../../kubernetes/schema/index.ts';

/** Wraps the schema of a variable, since values at the root of a schema get no defaults and are not pruned. */
const around = (schema: Schema): Schema => ({ type: 'object', properties: { variableValue: schema } });

/** Longest value that a message shows, in characters: what is wrong comes after it. */
const maxShown = 200;

/** A whole value as Cluster API's messages show it, in quotes: as Go's JSON, which has escapes for HTML. */
export const rawText = (value: Json): string =>
  value === null ? '' : truncated(asGoWrites(canonical(value)), maxShown);

/**
 * The value of a variable with defaults filled in, at any depth (defaultValue in
 * internal/topology/variables/cluster_variable_defaulting.go, v1.14).
 *
 * @param value undefined when the variable is not set.
 * @returns undefined when it is not set and has no default.
 * @throws {DefaultsError} when the defaults are too long.
 */
export function withDefaults(value: Json | undefined, schema: Schema): Json | undefined {
  const wrapped: JsonObject = value === undefined ? {} : { variableValue: copyOf(value) };
  applyDefaults(wrapped, around(schema));
  return wrapped.variableValue;
}

/** Maximum number of unknown fields that are listed. */
const maxUnknown = 20;

/**
 * Why Cluster API refuses the value of a variable, in its own words (internal/topology/variables): by its schema, then
 * its rules. Each message shows the whole value. Of alternatives that all fail (anyOf, oneOf), Cluster API also lists why the closest one
 * fails.
 *
 * @param path of the variable.
 * @param old the value before, for rules that compare it with this one; undefined at the creation of a Cluster.
 * @param budget for the time of the rules, when several values share it.
 * @throws {NotEvaluated} as `validateRules`.
 */
export function valueCauses(
  name: string,
  value: Json,
  schema: Schema,
  path: string,
  { old, budget }: { old?: Json | undefined; budget?: Budget | undefined } = {},
): StatusCause[] {
  const shown = JSON.stringify(rawText(value));
  const causes = validateSchema(value, schema, { shown });
  if (causes.length > 0) {
    return causes.map(({ field = '', ...cause }) => ({
      ...cause,
      field: field === '' || field === '<nil>' ? `${path}.value` : `${path}.value.${field.replace(/^\./, '')}`,
    }));
  }
  const unknown = prune({ variableValue: copyOf(value) }, around(schema), false);
  if (unknown.length > 0) {
    const fields = unknown.slice(0, maxUnknown).map((field) => field.replace(/^variableValue\./, ''));
    const list = [...fields, ...(unknown.length > maxUnknown ? ['…'] : [])].join(',');
    const why = `failed validation: ${JSON.stringify(list)} field(s) are not specified in the variable schema of variable ${JSON.stringify(name)}`;
    return [{ reason: 'FieldValueInvalid', message: `Invalid value: ${shown}: ${why}`, field: path }];
  }
  return validateRules(value, old, schema, {
    path: `${path}.value`,
    shown,
    isRatcheting: false,
    ...(budget !== undefined && { budget }),
  });
}
