import {
  groupOf,
  type Json,
  type JsonObject,
  lastAppliedAnnotation,
  nameOf,
  namespaceOf,
  objectAt,
  objectsAt,
  textAt,
} from '../../kubernetes/index.ts';

export interface ObjectName {
  group: string;
  kind: string;
  namespace: string;
  name: string;
}

/** The fields of an object that have a value. */
export const present = (fields: Record<string, Json | undefined>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined));

/** Those of some fields of an object that have a value. */
export const picked = (object: JsonObject, names: readonly string[]): JsonObject =>
  present(Object.fromEntries(names.map((name) => [name, object[name]])));

/** A reference to an object of the same namespace, in v1beta2. */
export const referenceTo = (object: JsonObject): JsonObject => ({
  apiGroup: groupOf(object),
  kind: textAt(object, 'kind'),
  name: nameOf(object),
});

/** A write of an object, about which its webhooks are asked. */
export function writable({ metadata, spec = {} }: JsonObject): JsonObject {
  const { labels, annotations } = objectAt(metadata);
  const { [lastAppliedAnnotation]: _applied, ...own } = objectAt(annotations);
  return { labels: objectAt(labels), annotations: own, spec };
}

/** A condition of an object, in v1beta2 or below `v1beta2` in the status of v1beta1. */
export function conditionOf(object: JsonObject, type: string): JsonObject | undefined {
  const conditions = [
    ...objectsAt(object, 'status', 'v1beta2', 'conditions'),
    ...objectsAt(object, 'status', 'conditions'),
  ];
  return conditions.find((condition) => condition.type === type);
}

export const keyOf = ({ group, kind, namespace, name }: ObjectName): string => `${group} ${kind} ${namespace} ${name}`;

export const nameIn = (object: JsonObject): ObjectName => ({
  group: groupOf(object),
  kind: textAt(object, 'kind'),
  namespace: namespaceOf(object),
  name: nameOf(object),
});

/** A number of Machines, or a percentage of the replicas. */
export function portion(
  value: Json | undefined,
  replicas: number,
  round: (number: number) => number,
  otherwise: number,
) {
  const percent = typeof value === 'string' ? /^(\d{1,3})%$/.exec(value)?.[1] : undefined;
  return percent === undefined
    ? typeof value === 'number'
      ? value
      : otherwise
    : round((Number(percent) * replicas) / 100);
}
