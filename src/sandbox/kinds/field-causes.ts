import {
  fieldAt,
  formatFieldPath,
  isSame,
  type Json,
  type JsonObject,
  type LabelSelector,
  labelSelectorProblems,
  labelValueProblems,
  objectAt,
  objectsAt,
  qualifiedNameProblems,
  type StatusCause,
} from '../../kubernetes/index.ts';
import { duplicate, invalid } from '../../kubernetes/schema/index.ts';

/** The problems of a label selector that its schema does not find; none for one that is absent. */
export function selectorCauses(selector: Json | undefined, field: string): StatusCause[] {
  const requirements = objectsAt(selector, 'matchExpressions');
  return requirements.some(({ key, operator }) => key === undefined || operator === undefined)
    ? []
    : labelSelectorProblems((selector ?? {}) as LabelSelector, 10).map(({ path, message }) =>
        invalid(`${field}.${formatFieldPath(path)}`, fieldAt(selector, ...path), message),
      );
}

export function keyCauses(metadata: JsonObject, field: string): StatusCause[] {
  const causes = Object.entries(objectAt(metadata, 'labels')).flatMap(([key, value]) => [
    ...qualifiedNameProblems(key).map((problem) => invalid(`${field}.labels`, key, problem)),
    ...labelValueProblems(String(value)).map((problem) => invalid(`${field}.labels`, value, problem)),
  ]);
  const annotations = Object.keys(objectAt(metadata, 'annotations')).flatMap((key) =>
    qualifiedNameProblems(key.toLowerCase()).map((problem) => invalid(`${field}.annotations`, key, problem)),
  );
  return [...causes, ...annotations];
}

/** A cause for each field (`spec.selector`) that an update changes although it must not; none for a creation. */
export function immutableCauses(
  object: JsonObject,
  old: JsonObject | undefined,
  fields: readonly string[],
  detail = 'field is immutable',
): StatusCause[] {
  return fields
    .filter(
      (field) => old !== undefined && !isSame(fieldAt(object, ...field.split('.')), fieldAt(old, ...field.split('.'))),
    )
    .map((field) => invalid(field, fieldAt(object, ...field.split('.')), detail));
}

/** A cause for each item of a list that has the same value in a field as an earlier one. */
export function duplicateCauses(items: readonly JsonObject[], key: string, field: string): StatusCause[] {
  const seen = new Set<Json>();
  return items.flatMap(({ [key]: value }, index) => {
    const isDuplicate = value !== undefined && seen.has(value);
    seen.add(value ?? '');
    return isDuplicate ? [duplicate(`${field}[${index}].${key}`, value)] : [];
  });
}
