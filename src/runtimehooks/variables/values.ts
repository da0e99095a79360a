import { type Budget, validateRules } from '../../kubernetes/cel/index.ts';
import { copyOf, type Json, type JsonObject, type StatusCause } from '../../kubernetes/index.ts';
import { applyDefaults, invalid, prune, type Schema, validateSchema } from '../../kubernetes/schema/index.ts';

/** Wraps the schema of a variable, since values at the root of a schema get no defaults and are not pruned. */
const around = (schema: Schema): Schema => ({ type: 'object', properties: { value: schema } });

/**
 * The value of a variable with defaults filled in, at any depth, as Cluster API's webhook does.
 *
 * @param value undefined when the variable is not set.
 * @returns undefined when it is not set and has no default.
 * @throws {DefaultsError} when the defaults are too long.
 */
export function withDefaults(value: Json | undefined, schema: Schema): Json | undefined {
  const wrapped: JsonObject = value === undefined ? {} : { value: copyOf(value) };
  applyDefaults(wrapped, around(schema));
  return wrapped.value;
}

/** Maximum number of unknown fields that are listed. */
const maxUnknown = 20;

/**
 * Why Cluster API refuses the value of a variable, in its own words: by its schema, then its rules. Rules that compare it
 * with the value before are left out, as at the creation of a Cluster.
 *
 * @param path of the variable.
 * @param budget for the cost of the rules, when several values share it.
 */
export function valueCauses(name: string, value: Json, schema: Schema, path: string, budget?: Budget): StatusCause[] {
  const causes = validateSchema(value, schema, `${path}.value`);
  if (causes.length > 0) {
    return causes;
  }
  const unknown = prune({ value: copyOf(value) }, around(schema), false);
  if (unknown.length > 0) {
    const fields = unknown.slice(0, maxUnknown).map((field) => field.replace(/^value\.?/, ''));
    const why = `failed validation: ${JSON.stringify(fields.join(','))} fields are not specified in the variable schema of variable ${JSON.stringify(name)}`;
    return [invalid(path, '', why)];
  }
  return validateRules(value, undefined, schema, { path: `${path}.value`, ...(budget !== undefined && { budget }) });
}
