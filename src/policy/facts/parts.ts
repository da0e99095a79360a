import {
  fieldAt,
  isJsonObject,
  itemsAt,
  type Json,
  type JsonObject,
  type LabelSelector,
  objectAt,
  textValues,
} from '../../kubernetes/index.ts';

export function nonEmptyText(value: Json | undefined, ...path: readonly string[]): string | undefined {
  const field = fieldAt(value, ...path);
  return typeof field === 'string' && field !== '' ? field : undefined;
}

/** `NAMESPACE/NAME`, or just the name of a cluster-scoped object. */
export function namespacedName(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

/** The key of an object by its metadata; undefined without a name. */
export function keyOfObject(object: JsonObject): string | undefined {
  const metadata = objectAt(object, 'metadata');
  const name = nonEmptyText(metadata, 'name');
  return name === undefined ? undefined : namespacedName(nonEmptyText(metadata, 'namespace'), name);
}

/** A label selector with defaults for absent fields; undefined if there is none. */
export function selectorOf(value: Json | undefined): LabelSelector | undefined {
  if (!isJsonObject(value)) {
    return undefined;
  }
  const matchExpressions = itemsAt(value, 'matchExpressions').map((requirement) => ({
    key: nonEmptyText(requirement, 'key') ?? '',
    operator: nonEmptyText(requirement, 'operator') ?? '',
    values: itemsAt(requirement, 'values').filter((item) => typeof item === 'string'),
  }));
  return {
    ...(isJsonObject(value.matchLabels) && { matchLabels: textValues(value.matchLabels) }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  };
}
