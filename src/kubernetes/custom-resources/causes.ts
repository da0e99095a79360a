import { hasRules, validateRules } from '../cel/index.ts';
import type { StatusCause } from '../objects/errors/status.ts';
import { type JsonObject, objectAt } from '../objects/json/json.ts';
import { invalid, type Schema, validateListTypes, validateSchema } from '../schema/index.ts';
import { metadataCauses } from './metadata-causes.ts';

/** Problems of an object after which its rules are not evaluated (apiextensions-apiserver, hasBlockingErr). */
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

/**
 * Why an API server does not store a custom resource, in its words and order: metadata, schema, types of lists, rules.
 * Parts that stay as they were in the old object are not judged (ratcheting validation).
 *
 * @param object with its defaults, and without unknown fields.
 */
export function customResourceCauses(object: JsonObject, old: JsonObject | undefined, schema: Schema): StatusCause[] {
  const causes = [
    ...metadataCauses(objectAt(object, 'metadata'), old && objectAt(old, 'metadata')),
    ...validateSchema(object, schema, { old }),
    ...validateListTypes(object, schema, { old }),
  ];
  return causes.some(({ reason }) => blocking.has(reason))
    ? [...causes, ...(hasRules(schema) ? [unchecked] : [])]
    : [...causes, ...validateRules(object, old, schema)];
}
