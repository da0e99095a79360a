import { customResourceCauses, metadataCauses } from '../../kubernetes/custom-resources/index.ts';
import type { JsonObject, StatusCause } from '../../kubernetes/index.ts';
import { validateSchema } from '../../kubernetes/schema/index.ts';
import { metadataOf, type Resource } from '../resources/resource.ts';

/** The problems of an object that is to be stored; `old` is the one that it replaces. */
export function causesOf(
  { schema, strategy, isCustom }: Resource,
  object: JsonObject,
  old: JsonObject | undefined,
): StatusCause[] {
  return isCustom
    ? customResourceCauses(object, old, schema)
    : [
        ...metadataCauses(metadataOf(object), old && metadataOf(old), strategy.nameFormat),
        ...validateSchema(object, schema),
        ...(strategy.validate?.(object, old) ?? []),
      ];
}
