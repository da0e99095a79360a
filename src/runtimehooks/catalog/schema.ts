import schemas from './message-schemas.generated.json' with { type: 'json' };

/**
 * A schema of a message, or of a part of one, in OpenAPI 3.0 (and in JSON Schema: only what both interpret in the same
 * way is used). Nothing is inlined: named objects are referenced by `$ref`.
 */
export interface MessageSchema {
  $ref?: string;
  type?: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  format?: string;
  description?: string;
  example?: unknown;
  enum?: readonly string[];
  required?: readonly string[];
  properties?: Readonly<Record<string, MessageSchema>>;
  additionalProperties?: MessageSchema;
  items?: MessageSchema;
  allOf?: readonly MessageSchema[];
  oneOf?: readonly MessageSchema[];
  'x-kubernetes-list-type'?: 'map' | 'atomic';
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-kubernetes-map-type'?: 'atomic';
}

/** Prefix of references to components. */
export const componentPrefix = '#/components/schemas/';

/** Prefix of the components that only hooks have. */
export const hooksPrefix = 'sigs.k8s.io.cluster-api.api.runtime.hooks.v1alpha1.';

/**
 * The schemas of all messages and of the types in them, by component: the fields in the OpenAPI document that Cluster API
 * publishes, with the descriptions and examples of tools/generate.
 */
export const components: ReadonlyMap<string, MessageSchema> = new Map(
  Object.entries(schemas as Readonly<Record<string, MessageSchema>>),
);
