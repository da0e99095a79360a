import type { Schema } from '../../kubernetes/schema/index.ts';
import definition from './crd.json' with { type: 'json' };
import type { Version } from './names.ts';

/** The fields of this project's own CustomResourceDefinition of apiextensions.k8s.io/v1 that the program uses. */
export interface CustomResourceDefinition {
  metadata: { name: string };
  spec: {
    conversion: object;
    versions: { name: string; served: boolean; schema: { openAPIV3Schema: Schema } }[];
  };
}

/**
 * ExtensionConfig's CustomResourceDefinition, the only source of its schemas and types. It is the one in manifests/crd,
 * converted to JSON since parsing YAML takes a tenth of the start-up time.
 */
export const crd = definition as CustomResourceDefinition;

const schemas = new Map(crd.spec.versions.map(({ name, schema }) => [name, schema.openAPIV3Schema]));

/** The OpenAPI schema of one version of ExtensionConfig. */
export function openApiSchemaOf(version: Version): Schema {
  return schemas.get(version) as Schema;
}
