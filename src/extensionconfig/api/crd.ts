import type { Schema } from '../../kubernetes/schema/index.ts';
import definition from './crd.generated.json' with { type: 'json' };
import type { Version } from './names.ts';

export interface CustomResourceDefinition {
  metadata: { name: string };
  spec: {
    conversion: object;
    versions: { name: string; served: boolean; schema: { openAPIV3Schema: Schema } }[];
  };
}

/** ExtensionConfig's CustomResourceDefinition, that in manifests/crd: parsing YAML would take a tenth of the start-up time. */
export const crd = definition as CustomResourceDefinition;

const schemas = new Map(crd.spec.versions.map(({ name, schema }) => [name, schema.openAPIV3Schema]));

/** The OpenAPI schema of one version of ExtensionConfig. */
export function openApiSchemaOf(version: Version): Schema {
  return schemas.get(version) as Schema;
}

export interface LimitedSchema extends Schema {
  properties?: Record<string, LimitedSchema>;
  /** Maximum number of bytes of all keys and values of a map of strings together. */
  maxTotalBytes?: number;
}

/** Maximum number of bytes of all annotations of an object together (Kubernetes' TotalAnnotationSizeLimitB). */
export const maxAnnotationBytes = 256 * 1024;
const maxNameLength = 253;
const maxLabelValueLength = 63;

/** metav1.ObjectMeta, with the fields that this program uses. */
const metadata: LimitedSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: maxNameLength },
    generateName: { type: 'string', maxLength: maxNameLength },
    namespace: { type: 'string' },
    annotations: { type: 'object', additionalProperties: { type: 'string' }, maxTotalBytes: maxAnnotationBytes },
    labels: { type: 'object', additionalProperties: { type: 'string', maxLength: maxLabelValueLength } },
    deletionTimestamp: { type: 'string' },
  },
};

/** The schema of one version of ExtensionConfig with that of its metadata. */
export function ownSchemaOf(version: Version): LimitedSchema {
  const schema = openApiSchemaOf(version);
  return { ...schema, properties: { ...schema.properties, metadata } };
}
