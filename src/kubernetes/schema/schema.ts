import { truncated } from '../../base/index.ts';
import { canonical, isJsonObject, type Json, type JsonObject, own } from '../objects/json/json.ts';

/** Structural OpenAPI v3 schema of apiextensions.k8s.io/v1, all keywords. */
export interface Schema {
  type?: string;
  format?: string;
  title?: string;
  description?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  items?: Schema;
  enum?: Json[];
  default?: Json;
  nullable?: boolean;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  pattern?: string;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: string;
  'x-kubernetes-patch-strategy'?: string;
  'x-kubernetes-patch-merge-key'?: string;
  'x-kubernetes-validations'?: object[];
}

/** The schema of a property if `properties` has one itself (not inherited from Object). */
export const propertyOf = ({ properties = {} }: Schema, name: string): Schema | undefined => own(properties, name);

/** The schema for a key of an object: that of the property, else of additional properties. */
export function fieldOf(schema: Schema | undefined, name: string): Schema | undefined {
  const { additionalProperties } = schema ?? {};
  return (
    propertyOf(schema ?? {}, name) ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
  );
}

/** The type of a value as schemas name it: a whole number is an integer. */
export function typeNameOf(value: Json): string {
  if (value === null) {
    return 'null';
  }
  if (Array.isArray(value)) {
    return 'array';
  }
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** Whether a value has the type of a schema; whole numbers are numbers, too. */
export const isOfType = (value: Json, type: string): boolean =>
  typeNameOf(value) === type || (type === 'number' && typeof value === 'number');

/** A field of an object or an item of a list, with the schema of its place, if there is one. */
interface Part {
  key: string | number;
  part: Json;
  schema: Schema | undefined;
}

export function* partsIn(value: Json, schema: Schema): Generator<Part> {
  if (Array.isArray(value)) {
    for (const [key, part] of value.entries()) {
      yield { key, part, schema: schema.items };
    }
  } else if (isJsonObject(value)) {
    for (const [key, part] of Object.entries(value)) {
      yield { key, part, schema: fieldOf(schema, key) };
    }
  }
}

/** Whether a property of a schema is true of it, or of a schema in it that describes a part of its values; found out once. */
export function ofAnyPart(isTrue: (schema: Schema) => boolean): (schema: Schema) => boolean {
  const known = new WeakMap<Schema, boolean>();
  const isTrueWithin = (schema: Schema): boolean => {
    const result = known.get(schema);
    if (result !== undefined) {
      return result;
    }
    // Recursive schemas (JSONSchemaProps) reach this schema again.
    known.set(schema, false);
    const { properties = {}, items, additionalProperties } = schema;
    const parts = [...Object.values(properties), items, additionalProperties];
    const isIt = isTrue(schema) || parts.some((part) => typeof part === 'object' && isTrueWithin(part));
    known.set(schema, isIt);
    return isIt;
  };
  return isTrueWithin;
}

/** A key as paths show it: truncated, since it is repeated for each field below it. */
export const shownKey = (key: string): string => truncated(key, 512);

/** The path of a field or an item of the value at `path`, for messages; the path of the root is empty. */
export function joinPath(path: string, key: string | number): string {
  if (typeof key === 'number') {
    return `${path}[${key}]`;
  }
  return path === '' ? shownKey(key) : `${path}.${shownKey(key)}`;
}

/** Finds the old value of an item of a list: in one of type map the item with the same keys, in others none. */
export function oldItems(old: Json | undefined, schema: Schema): (item: Json) => Json | undefined {
  const keys = schema['x-kubernetes-list-type'] === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : [];
  if (keys.length === 0 || !Array.isArray(old)) {
    return () => undefined;
  }
  const identityOf = (item: JsonObject) => canonical(keys.map((key) => item[key] ?? null));
  const items = new Map(old.filter(isJsonObject).map((item) => [identityOf(item), item]));
  return (item) => (isJsonObject(item) ? items.get(identityOf(item)) : undefined);
}
