import { openApiSchemaOf, type Version } from '../../../extensionconfig/index.ts';
import type { Schema } from '../../../kubernetes/schema/index.ts';

/** The fields of metav1.ObjectMeta (Kubernetes 1.36, in its order), which is not in the CustomResourceDefinition. */
const metadata: Schema = {
  properties: {
    name: {},
    generateName: {},
    namespace: {},
    selfLink: {},
    uid: {},
    resourceVersion: {},
    generation: {},
    creationTimestamp: {},
    deletionTimestamp: {},
    deletionGracePeriodSeconds: {},
    labels: {},
    annotations: {},
    ownerReferences: {},
    finalizers: {},
    managedFields: {},
  },
};

/** The fields of a version of ExtensionConfig, with those of its metadata. */
export function allFieldsOf(version: Version): Schema {
  const schema = openApiSchemaOf(version);
  return { ...schema, properties: { ...schema.properties, metadata } };
}
