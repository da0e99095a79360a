import {
  fieldAt,
  formatFieldPath,
  isSame,
  type Json,
  type JsonObject,
  type LabelSelector,
  labelSelectorProblems,
  objectsAt,
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

/** A cause for each field (`spec.selector`) that an update changes although it must not; none for a creation. */
export function* immutableCauses(
  object: JsonObject,
  old: JsonObject | undefined,
  fields: readonly string[],
  detail = 'field is immutable',
): Generator<StatusCause> {
  for (const field of fields) {
    const path = field.split('.');
    if (old !== undefined && !isSame(fieldAt(object, ...path), fieldAt(old, ...path))) {
      yield invalid(field, fieldAt(object, ...path), detail);
    }
  }
}

/** A cause for each item of a list that has the same value in a field as an earlier one. */
export function* duplicateCauses(items: readonly JsonObject[], key: string, field: string): Generator<StatusCause> {
  const seen = new Set<Json>();
  for (const [index, { [key]: value }] of items.entries()) {
    if (value !== undefined && seen.has(value)) {
      yield duplicate(`${field}[${index}].${key}`, value);
    }
    seen.add(value ?? '');
  }
}
