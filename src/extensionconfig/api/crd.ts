import definition from './crd.json' with { type: 'json' };

/** OpenAPI v3 schema of a CustomResourceDefinition, with the fields that this program uses. */
export interface OpenApiSchema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  format?: string;
  description?: string;
  properties?: Record<string, OpenApiSchema>;
  additionalProperties?: OpenApiSchema | boolean;
  required?: string[];
  items?: OpenApiSchema;
  enum?: unknown[];
  default?: unknown;
  nullable?: boolean;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  pattern?: string;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: 'atomic' | 'granular';
}

/** The fields of this project's own CustomResourceDefinition of apiextensions.k8s.io/v1 that the program uses. */
export interface CustomResourceDefinition {
  metadata: { name: string };
  spec: {
    conversion: object;
    versions: { name: string; served: boolean; schema: { openAPIV3Schema: OpenApiSchema } }[];
  };
}

/**
 * ExtensionConfig's CustomResourceDefinition, the only source of its schemas and types. It is the one in manifests/crd,
 * converted to JSON since parsing YAML takes a tenth of the start-up time.
 */
export const crd = definition as CustomResourceDefinition;

/**
 * The OpenAPI schema of one version of ExtensionConfig.
 *
 * @throws {Error} for an unknown version.
 */
export function openApiSchemaOf(version: string): OpenApiSchema {
  const found = crd.spec.versions.find(({ name }) => name === version);
  if (found === undefined) {
    throw new Error(`the CustomResourceDefinition has no version ${version}`);
  }
  return found.schema.openAPIV3Schema;
}
