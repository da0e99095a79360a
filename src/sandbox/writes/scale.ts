import { fieldAt, isJsonObject, itemsAt, type Json, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { invalid, type Schema } from '../../kubernetes/schema/index.ts';
import { schemaOfModel } from '../models/built-in-schemas.ts';
import { invalidObject } from '../resources/errors.ts';
import { metadataOf, type Resource, scaleKind } from '../resources/resource.ts';

/** The Scale of a resource, as a resource of its own whose schema validates bodies. */
export function scaleResourceOf(resource: Resource): Resource {
  return {
    ...resource,
    ...scaleKind,
    isCustom: false,
    hasStatus: false,
    schema: schemaOfModel('V1Scale') as Schema,
    strategy: {},
  };
}

/** A label selector in the syntax of query parameters. */
function selectorText(selector: JsonObject): string {
  const { matchExpressions } = selector;
  const equal = Object.entries(objectAt(selector, 'matchLabels')).map(([key, value]) => `${key}=${String(value)}`);
  const expressions = itemsAt(matchExpressions)
    .filter(isJsonObject)
    .map(({ key, operator, values }) => {
      const list = `(${itemsAt(values).join(',')})`;
      switch (operator) {
        case 'Exists':
          return String(key);
        case 'DoesNotExist':
          return `!${String(key)}`;
        default:
          return `${String(key)} ${operator === 'In' ? 'in' : 'notin'} ${list}`;
      }
    });
  return [...equal, ...expressions].join(',');
}

/** The response to `GET …/scale`: the desired and the current number of replicas. */
export function scaleOf({ scale }: Resource, object: JsonObject): JsonObject {
  const fields = ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'];
  const known = fields.filter((field) => metadataOf(object)[field] !== undefined);
  const at = (path: readonly string[] | undefined) => (path === undefined ? undefined : fieldAt(object, ...path));
  const selectorField = at(scale?.selector);
  const selector = isJsonObject(selectorField) ? selectorText(selectorField) : (selectorField ?? '');
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: Object.fromEntries(known.map((field) => [field, metadataOf(object)[field] as Json])),
    spec: { replicas: at(scale?.spec) ?? 0 },
    status: { replicas: at(scale?.status) ?? 0, ...(selector === '' ? {} : { selector }) },
  };
}

function withValue(object: JsonObject, [key = '', ...rest]: readonly string[], value: Json): JsonObject {
  return { ...object, [key]: rest.length === 0 ? value : withValue(objectAt(object, key), rest, value) };
}

/** An object with the replicas of a Scale, which may specify the resource version that it applies to. */
export function withScale(resource: Resource, object: JsonObject, scale: JsonObject): JsonObject {
  const { name, namespace, uid, resourceVersion } = metadataOf(scale);
  const replicas: Json = objectAt(scale, 'spec').replicas ?? 0;
  if (Number(replicas) < 0) {
    const cause = invalid('spec.replicas', replicas, 'must be greater than or equal to 0');
    throw invalidObject(scaleResourceOf(resource), String(name), [cause]);
  }
  const fields = Object.entries({ name, namespace, uid, resourceVersion }).filter(([, value]) => value !== undefined);
  const metadata = { ...metadataOf(object), ...(Object.fromEntries(fields) as JsonObject) };
  return withValue({ ...object, metadata }, resource.scale?.spec ?? [], replicas);
}
