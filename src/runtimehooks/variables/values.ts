import { truncated } from '../../base/index.ts';
import { type Budget, validateRules } from '../../kubernetes/cel/index.ts';
import {
  asGoWrites,
  canonical,
  copyOf,
  isJsonObject,
  itemsAt,
  type Json,
  type JsonObject,
  own,
  type StatusCause,
  setOwn,
} from '../../kubernetes/index.ts';

import { applyDefaults, prune, type Schema, validateSchema } from '../../kubernetes/schema/index.ts';
import type { MessageSchema } from '../catalog/schema.ts';
import { resolved } from '../messages/index.ts';

const schemaType: MessageSchema = {
  $ref: '#/components/schemas/sigs.k8s.io.cluster-api.api.core.v1beta2.JSONSchemaProps',
};

function typed(value: Json, schema: MessageSchema): Json | undefined {
  const { type, properties, additionalProperties, items = {} } = resolved(schema) ?? {};
  if (type === 'array') {
    const parts = itemsAt(value).map((item) => typed(item, items));
    const list = parts.filter((part) => part !== undefined);
    return list.length === 0 ? undefined : list;
  }
  if (type === 'object') {
    if (!isJsonObject(value)) {
      return undefined;
    }
    const fields: JsonObject = {};
    for (const [name, part] of Object.entries(value)) {
      const known = own(properties ?? {}, name) ?? additionalProperties;
      const field = known === undefined || part === null ? undefined : typed(part, known);
      if (field !== undefined && name !== 'x-metadata') {
        setOwn(fields, name, field);
      }
    }
    return additionalProperties !== undefined && Object.keys(fields).length === 0 ? undefined : fields;
  }
  const isOfType = type === undefined || typeof value === (type === 'integer' ? 'number' : type);
  // When Go serializes the schema, it omits zero values of texts and booleans.
  return isOfType && (type === undefined || (value !== '' && value !== false)) ? value : undefined;
}

/** The schema of a variable as Cluster API reads it (v1.14): without unknown fields, and fields of another type. */
export const readSchema = (raw: JsonObject): Schema => typed(raw, schemaType) as Schema;

/** Wraps the schema of a variable, since values at the root of a schema get no defaults and are not pruned. */
const around = (schema: Schema): Schema => ({ type: 'object', properties: { variableValue: schema } });

/** A whole value as Cluster API's messages show it, in quotes: as Go's JSON, truncated since what is wrong comes after it. */
export const rawText = (value: Json): string => (value === null ? '' : truncated(asGoWrites(canonical(value)), 200));

/** The value of a variable with defaults (v1.14); undefined if it has none. @throws {DefaultsError} when they are too long. */
export function withDefaults(value: Json | undefined, schema: Schema): Json | undefined {
  const wrapped: JsonObject = value === undefined ? {} : { variableValue: copyOf(value) };
  applyDefaults(wrapped, around(schema));
  return wrapped.variableValue;
}

const maxUnknown = 20;

/**
 * Why Cluster API refuses the value of the variable at `path`, in its own words (internal/topology/variables): by its schema,
 * then its rules. Of alternatives that all fail (anyOf, oneOf), Cluster API also lists why the closest one fails.
 *
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
    ...(budget && { budget }),
  });
}
