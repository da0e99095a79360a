import { hasRules, validateRules } from '../../kubernetes/cel/index.ts';
import type { JsonObject, StatusCause } from '../../kubernetes/index.ts';
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
  causes.push(...validateSchema(object, schema));
  return causes.some(({ reason }) => blocking.has(reason))
    ? [...causes, ...(hasRules(schema) ? [unchecked] : [])]
    : [...causes, ...validateRules(object, old, schema)];
}
