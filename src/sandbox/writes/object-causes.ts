import { hasRules, validateRules } from '../../kubernetes/cel/index.ts';
import { fieldAt, isSame, type JsonObject, type StatusCause } from '../../kubernetes/index.ts';
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

/** Maximum number of values that are compared with those before: each may be as large as the object. */
const maxCompared = 20;

/** The path of the value that a cause is about (`spec.list[0].name`), or of the object that lacks a required field. */
function pathOf({ field = '', reason }: StatusCause): (string | number)[] {
  const parts = field.split(/[.[\]]+/).filter((part) => part !== '');
  const path = parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  return reason === 'FieldValueRequired' ? path.slice(0, -1) : path;
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
  const compared = new Map<string, boolean>();
  return causes.filter((cause) => {
    const path = pathOf(cause);
    const place = JSON.stringify(path);
    if (before.has(keyOf(cause)) && !compared.has(place) && compared.size < maxCompared) {
      compared.set(place, isSame(fieldAt(object, ...path), fieldAt(old, ...path)));
    }
    return !before.has(keyOf(cause)) || compared.get(place) !== true;
  });
}

/** The problems of an object that is to be stored; `old` is the one that it replaces. */
export function causesOf(
  { schema, strategy, isCustom }: Resource,
  object: JsonObject,
  old: JsonObject | undefined,
): StatusCause[] {
  const causes = [...metadataCauses(metadataOf(object), old && metadataOf(old), strategy.nameFormat ?? 'subdomain')];
  if (!isCustom) {
    return [...causes, ...validateSchema(object, schema), ...(strategy.validate?.(object, old) ?? [])];
  }
  causes.push(...ratcheted(object, old, (state) => validateSchema(state, schema)));
  return causes.some(({ reason }) => blocking.has(reason))
    ? [...causes, ...(hasRules(schema) ? [unchecked] : [])]
    : [...causes, ...ratcheted(object, old, (state, before) => validateRules(state, before, schema))];
}
