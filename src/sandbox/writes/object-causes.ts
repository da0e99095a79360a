import { NotEvaluated } from '../../kubernetes/cel/index.ts';
import { customResourceCauses, metadataCauses } from '../../kubernetes/custom-resources/index.ts';
import type { JsonObject, StatusCause } from '../../kubernetes/index.ts';
import { validateSchema } from '../../kubernetes/schema/index.ts';
import { internalError } from '../resources/errors.ts';
import { metadataOf, type Resource } from '../resources/resource.ts';

/**
 * The problems of an object that is to be stored; `old` is the one that it replaces.
 *
 * @throws {RequestError} when a rule cannot be evaluated: whether a kube-apiserver stores the object is not known then.
 */
export function causesOf(
  { schema, strategy, isCustom }: Resource,
  object: JsonObject,
  old: JsonObject | undefined,
): StatusCause[] {
  if (isCustom) {
    try {
      return customResourceCauses(object, old, schema);
    } catch (error) {
      throw error instanceof NotEvaluated ? internalError(error.message) : error;
    }
  }
  return [
    ...metadataCauses(metadataOf(object), old && metadataOf(old), strategy.nameFormat),
    ...validateSchema(object, schema),
    ...(strategy.validate?.(object, old) ?? []),
  ];
}
