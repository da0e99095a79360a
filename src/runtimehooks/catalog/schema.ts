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

type Properties = Readonly<Record<string, MessageSchema>>;
type More = Partial<MessageSchema>;

const described = (schema: MessageSchema, description: string | undefined, more?: More): MessageSchema => ({
  ...schema,
  ...(description === undefined ? {} : { description }),
  ...more,
});

/** An object with its required and its optional fields. */
export function object(
  description: string,
  { required = {}, optional = {} }: { required?: Properties; optional?: Properties },
  more?: More,
): MessageSchema {
  const names = Object.keys(required);
  return described(
    { type: 'object', ...(names.length === 0 ? {} : { required: names }), properties: { ...required, ...optional } },
    description,
    more,
  );
}

/** A text. */
export const string = (description?: string, more?: More) => described({ type: 'string' }, description, more);
/** A 32-bit integer. */
export const int32 = (description?: string, more?: More) =>
  described({ type: 'integer', format: 'int32' }, description, more);
/** Bytes, represented in JSON as standard base64. */
export const bytes = (description?: string, more?: More) =>
  described({ type: 'string', format: 'byte' }, description, more);
/** A map of strings. */
export const stringMap = (description?: string, more?: More) =>
  described({ type: 'object', additionalProperties: { type: 'string' } }, description, more);
/** A list. */
export const list = (items: MessageSchema, description?: string, more?: More) =>
  described({ type: 'array', items }, description, more);
/** A list whose items are identified by the values of some of their fields. */
export const listByKeys = (items: MessageSchema, keys: readonly string[], description?: string) =>
  list(items, description, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys });
/**
 * A reference to a component by its full name. OpenAPI 3.0 ignores siblings of a `$ref`, hence the `allOf` for a
 * description.
 */
export const ref = (component: string, description?: string): MessageSchema => {
  const reference = { $ref: `${componentPrefix}${component}` };
  return description === undefined ? reference : { description, allOf: [reference] };
};
