import { type OpenApiSchema, openApiSchemaOf, type Version } from '../../../extensionconfig/index.ts';

/**
 * The fields of metav1.ObjectMeta (Kubernetes 1.36, in its order), whose schema is not in the CustomResourceDefinition;
 * and without theirs.
 */
const metadata: OpenApiSchema = {
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
export function allFieldsOf(version: Version): OpenApiSchema {
  const schema = openApiSchemaOf(version);
  return { ...schema, properties: { ...schema.properties, metadata } };
}
