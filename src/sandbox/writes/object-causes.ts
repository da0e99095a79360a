import { hasRules, validateRules } from '../../kubernetes/cel/index.ts';
import { fieldAt, isSame, type Json, type JsonObject, type StatusCause } from '../../kubernetes/index.ts';
import { invalid, validateSchema } from '../../kubernetes/schema/index.ts';
import { metadataOf, type Resource } from '../resources/resource.ts';
import { metadataCauses } from './metadata.ts';

/** Problems of the object of a definition after which its rules are not evaluated (apiextensions-apiserver, hasBlockingErr). */
const blocking = new Set<string>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const unchecked = invalid(
  '<nil>',
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);

/** The value at a path of a cause (`spec.list[0].name`), or of the object that a required field is missing in. */
function causedBy(object: JsonObject, { field = '', reason }: StatusCause): Json | undefined {
  const parts = field.split(/[.[\]]+/).filter((part) => part !== '');
  const path = parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  return fieldAt(object, ...(reason === 'FieldValueRequired' ? path.slice(0, -1) : path));
}

/**
 * The problems of an object without those of values that are as they were: a definition may have become stricter since
 * they were stored (KEP-4008, ratcheting).
 */
function ratcheted(
  object: JsonObject,
  old: JsonObject | undefined,
  check: (object: JsonObject, old?: JsonObject) => StatusCause[],
): StatusCause[] {
  const causes = check(object, old);
  if (old === undefined || causes.length === 0) {
    return causes;
  }
  const keyOf = ({ reason, field, message }: StatusCause) => JSON.stringify([reason, field, message]);
  const before = new Set(check(old).map(keyOf));
  return causes.filter((cause) => !before.has(keyOf(cause)) || !isSame(causedBy(object, cause), causedBy(old, cause)));
}

/** The problems of an object that is to be stored; `old` is the one that it replaces. */
export function causesOf(
  { schema, strategy, isCustom }: Resource,
  object: JsonObject,
  old: JsonObject | undefined,
): StatusCause[] {
  const causes = metadataCauses(metadataOf(object), old && metadataOf(old), strategy.nameFormat ?? 'subdomain');
  if (!isCustom) {
    // Duplicates in lists of Kubernetes' own kinds are found by their strategies.
    const others = validateSchema(object, schema).filter(({ reason }) => reason !== 'FieldValueDuplicate');
    return [...causes, ...others, ...(strategy.validate?.(object, old) ?? [])];
  }
  causes.push(...ratcheted(object, old, (state) => validateSchema(state, schema)));
  return causes.some(({ reason }) => blocking.has(reason))
    ? [...causes, ...(hasRules(schema) ? [unchecked] : [])]
    : [...causes, ...ratcheted(object, old, (state, before) => validateRules(state, before, schema))];
}
