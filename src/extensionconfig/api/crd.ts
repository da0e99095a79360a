import type { Schema } from '../../kubernetes/schema/index.ts';
import definition from './crd.json' with { type: 'json' };

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

/** The OpenAPI schema of one version of ExtensionConfig. @throws {Error} for an unknown version. */
export function openApiSchemaOf(version: string): Schema {
  const definition = crd.spec.versions.find(({ name }) => name === version);
  if (definition === undefined) {
    throw new Error(`the CustomResourceDefinition has no version ${version}`);
  }
  return definition.schema.openAPIV3Schema;
}
