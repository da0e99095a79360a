import { fieldAt, isJsonObject, type Json, type JsonObject } from '../../kubernetes/index.ts';

/** Health checks refer to templates of remediation, which no plan reads. */
const unread = new Set(['healthCheck', 'machineHealthCheck']);

function referencesIn(value: Json | undefined): JsonObject[] {
  if (Array.isArray(value)) {
    return value.flatMap(referencesIn);
  }
  const fields = isJsonObject(value) ? Object.entries(value).filter(([name]) => !unread.has(name)) : [];
  return fields.flatMap(([name, inner]) =>
    // `ref` in v1beta1.
    (name === 'templateRef' || name === 'ref') && isJsonObject(inner) ? [inner] : referencesIn(inner),
  );
}

/** The references of a ClusterClass to templates. */
export const templateReferences = (clusterClass: JsonObject): JsonObject[] =>
  ['infrastructure', 'controlPlane', 'workers'].flatMap((part) => referencesIn(fieldAt(clusterClass, 'spec', part)));
