import { openApiSchemaOf, type Version } from '../../extensionconfig/index.ts';
import type { FieldPath } from '../../kubernetes/index.ts';
import type { Schema } from '../../kubernetes/schema/index.ts';

/** The fields of metav1.ObjectMeta (Kubernetes 1.36, in its order), which is not in the CustomResourceDefinition. */
const metadataFields =
  'name generateName namespace selfLink uid resourceVersion generation creationTimestamp deletionTimestamp deletionGracePeriodSeconds labels annotations ownerReferences finalizers managedFields';
const metadata: Schema = { properties: Object.fromEntries(metadataFields.split(' ').map((name) => [name, {}])) };

/** The fields of a version of ExtensionConfig, with those of its metadata. */
export function allFieldsOf(version: Version): Schema {
  const schema = openApiSchemaOf(version);
  return { ...schema, properties: { ...schema.properties, metadata } };
}

const schema = allFieldsOf('v1beta2');

/** The position of a property in a schema, which has at most a dozen; unknown properties come last. */
function rankIn(at: Schema | undefined, name: string | number): number {
  const names = Object.keys(at?.properties ?? {});
  const rank = names.indexOf(String(name));
  return rank === -1 ? names.length : rank;
}

/**
 * Compares two paths by the position of their fields in the API's schema, from top to bottom, as a `sort` callback. An
 * object comes before its fields, items are ordered by index, and unknown fields come last, by name.
 */
export function compareFieldPaths(a: FieldPath, b: FieldPath): number {
  let at: Schema | undefined = schema;
  for (let i = 0; i < a.length && i < b.length; i++) {
    const left = a[i] as string | number;
    const right = b[i] as string | number;
    if (left === right) {
      at = typeof left === 'number' ? at?.items : at?.properties?.[left];
      continue;
    }
    if (typeof left === 'number' && typeof right === 'number') {
      return left - right;
    }
    return rankIn(at, left) - rankIn(at, right) || (String(left) < String(right) ? -1 : 1);
  }
  return a.length - b.length;
}
