import { fieldAt, isSame, type Json, type JsonObject } from '../../kubernetes/index.ts';
import { denial, invalidText } from '../world/refusal.ts';

type Value = Json | undefined;

interface Objects {
  before: JsonObject;
  after: JsonObject;
}

/** A change of a field that a provider refuses, with its words. */
export interface RefusedChange {
  /** `spec.network.vpc` */
  field: string;
  /** Whether a change is meant; by default each, also that from or to no value. */
  is?: (before: Value, after: Value, objects: Objects) => boolean;
  why: string | ((before: Value, after: Value) => string | string[]);
  /** Whether false and '' are values: Go's pointers, and rules of schemas. */
  isPointer?: boolean;
  /** The field as the provider writes it, if that is another one. */
  shown?: string;
  /** The value as the provider writes it, if that is not the one after the change. */
  value?: (after: Value, before: Value, objects: Objects) => Json;
  /** `Forbidden` shows no value. Default: Invalid value. */
  type?: 'Forbidden';
}

/** From one value to another: neither set nor removed. */
export const isOther = (before: Value, after: Value): boolean => before !== undefined && after !== undefined;

/** For a field that a webhook sets where it is missing: another value than before, and the one that there is then. */
export const withDefault = (defaultOf: (object: JsonObject) => string): Pick<RefusedChange, 'is' | 'value'> => ({
  is: (before, after, objects) => (before ?? defaultOf(objects.before)) !== (after ?? defaultOf(objects.after)),
  value: (after, _before, objects) => after ?? defaultOf(objects.after),
});

export const isRemoved = (before: Value, after: Value): boolean => before !== undefined && after === undefined;

function fieldOf(object: JsonObject, field: string, isPointer: boolean): Value {
  const value = fieldAt(object, ...field.split('.'));
  const isZero = value === null || (!isPointer && (value === '' || value === false));
  return isZero ? undefined : value;
}

/**
 * Why an update is refused, in the words of a webhook, or of an API server if it is a rule of the schema.
 *
 * @param webhook undefined for rules of the schema.
 */
export const refusedChanges =
  (webhook: string | undefined, rules: readonly RefusedChange[]) =>
  (before: JsonObject, after: JsonObject): string | undefined => {
    const problems = rules.flatMap((rule) => {
      const { field, is = () => true, why, isPointer = webhook === undefined, shown = field, type } = rule;
      const { value = (wanted: Value) => wanted ?? null } = rule;
      const [old, wanted] = [before, after].map((object) => fieldOf(object, field, isPointer));
      if (isSame(old, wanted) || !is(old, wanted, { before, after })) {
        return [];
      }
      const texts = [typeof why === 'string' ? why : why(old, wanted)].flat();
      return texts.map(
        (text) =>
          `${shown}: ${type ?? `Invalid value: ${JSON.stringify(value(wanted, old, { before, after }))}`}: ${text}`,
      );
    });
    const text = invalidText(after, problems);
    return problems.length === 0 ? undefined : webhook === undefined ? text : denial(webhook, text);
  };
