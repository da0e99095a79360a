import schemas from './message-schemas.generated.json' with { type: 'json' };

/**
 * A schema of a message, or of a part of one, in what OpenAPI 3.0 and JSON Schema interpret in the same way; named objects
 * are referenced by `$ref`.
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

export const componentPrefix = '#/components/schemas/';

/** Prefix of the components that only hooks have. */
export const hooksPrefix = 'sigs.k8s.io.cluster-api.api.runtime.hooks.v1alpha1.';

/** By component: what Cluster API's OpenAPI document has, with the descriptions and examples of tools/generate. */
export const components: ReadonlyMap<string, MessageSchema> = new Map(
  Object.entries(schemas as Readonly<Record<string, MessageSchema>>),
);

export const componentOf = (reference: string): string => reference.slice(componentPrefix.length);

/** A schema itself, or the component that it refers to. */
export function resolved(schema: MessageSchema | undefined): MessageSchema | undefined {
  const reference = schema?.$ref ?? schema?.allOf?.[0]?.$ref;
  return reference === undefined ? schema : components.get(componentOf(reference));
}
