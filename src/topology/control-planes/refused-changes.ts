import { fieldAt, isSame, type Json, type JsonObject, textAt } from '../../kubernetes/index.ts';

type Value = Json | undefined;

/** Whether a provider's webhook, or a rule of its schema, refuses a value that a field gets. */
export type Refuses = (before: Value, after: Value, objects: { before: JsonObject; after: JsonObject }) => boolean;

export const differs: Refuses = (before, after) => !isSame(before, after);

/** From one value to another: neither set nor removed. */
export const isOther: Refuses = (before, after) =>
  before !== undefined && after !== undefined && !isSame(before, after);

export const isRemoved: Refuses = (before, after) => before !== undefined && after === undefined;

/** For a field that a webhook sets where it is missing. */
export const withDefault =
  (defaultOf: (object: JsonObject) => string): Refuses =>
  (before, after, objects) =>
    (before ?? defaultOf(objects.before)) !== (after ?? defaultOf(objects.after));

export const refusesAll = (is: Refuses, ...fields: readonly string[]): Record<string, Refuses> =>
  Object.fromEntries(fields.map((field) => [field, is]));

function valueAt(object: JsonObject, field: string): Value {
  const value = fieldAt(object, 'spec', ...field.split('.'));
  return value === null || value === '' ? undefined : value;
}

/** Why an update is refused, by fields below `spec`, of which null and the empty text are no values. */
export const refusal =
  (rules: Readonly<Record<string, Refuses>>) =>
  (before: JsonObject, after: JsonObject): string | undefined => {
    const fields = Object.entries(rules).flatMap(([field, isRefused]) => {
      const [old, wanted] = [valueAt(before, field), valueAt(after, field)];
      return isRefused(old, wanted, { before, after }) ? [`spec.${field}`] : [];
    });
    return fields.length === 0
      ? undefined
      : `the provider of ${textAt(after, 'kind')} refuses this change of ${fields.join(', ')}`;
  };
