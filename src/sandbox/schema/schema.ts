import { isJsonObject, type Json, type JsonObject, setOwn } from '../../kubernetes/index.ts';

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

/** Whether a property's schema is one of its own in `properties` (and not something JavaScript objects inherit). */
export function propertyOf(schema: Schema, name: string): Schema | undefined {
  return schema.properties !== undefined && Object.hasOwn(schema.properties, name)
    ? schema.properties[name]
    : undefined;
}

/** The schema of one key of an object: its property, else what additional properties are. */
export function fieldOf(schema: Schema | undefined, name: string): Schema | undefined {
  if (schema === undefined) {
    return undefined;
  }
  const { additionalProperties } = schema;
  return propertyOf(schema, name) ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
}

/** Most characters of a key that a path shows: the path is repeated for each field below. */
const maxKeyShown = 512;

/** A key as paths show it: a long one is cut off. */
export function shownKey(key: string): string {
  return key.length > maxKeyShown ? `${key.slice(0, maxKeyShown)}…` : key;
}

/** The path of a field of the object at `path`, for messages; that of the whole is empty. */
export function joinPath(path: string, key: string): string {
  return path === '' ? shownKey(key) : `${path}.${shownKey(key)}`;
}

const embedded = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Removes what a structural schema does not specify, in place.
 *
 * @param isRoot keeps apiVersion, kind and metadata, which every object has whatever its schema says.
 * @returns the paths of what was removed (`spec.bar`, `spec.list[0].foo`).
 */
export function prune(value: Json, schema: Schema, isRoot = true): string[] {
  const removed: string[] = [];
  pruneAt(value, schema, '', isRoot, removed);
  return removed.sort();
}

function pruneAt(value: Json, schema: Schema, path: string, isResource: boolean, removed: string[]): void {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) {
      for (const [index, item] of value.entries()) {
        pruneAt(
          item,
          schema.items,
          `${path}[${index}]`,
          schema.items['x-kubernetes-embedded-resource'] === true,
          removed,
        );
      }
    }
    return;
  }
  if (!isJsonObject(value)) {
    return;
  }
  for (const key of Object.keys(value)) {
    const keyPath = joinPath(path, key);
    if (isResource && embedded.has(key)) {
      continue;
    }
    const field = fieldOf(schema, key);
    if (field !== undefined) {
      pruneAt(value[key] as Json, field, keyPath, field['x-kubernetes-embedded-resource'] === true, removed);
    } else if (schema['x-kubernetes-preserve-unknown-fields'] !== true && schema.additionalProperties !== true) {
      delete value[key];
      removed.push(keyPath);
    }
  }
}

/** What Go decodes null into, where a value must be. */
function zeroOf(schema: Schema): Json {
  switch (schema.type) {
    case 'string':
      return '';
    case 'boolean':
      return false;
    case 'object':
      return {};
    case 'array':
      return [];
    default:
      return 0;
  }
}

/**
 * Takes nulls out, in place, as Go does when it decodes one of its own types: a field that is null is not set, and an item
 * or a value of a map that is null is the zero value. What may hold any JSON is left alone.
 */
export function dropNulls(value: Json, schema: Schema): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items !== undefined) {
      for (const [index, item] of value.entries()) {
        if (item === null) {
          value[index] = zeroOf(items);
        } else {
          dropNulls(item, items);
        }
      }
    }
    return;
  }
  if (!isJsonObject(value)) {
    return;
  }
  for (const key of Object.keys(value)) {
    const field = fieldOf(schema, key);
    if (field === undefined || field['x-kubernetes-preserve-unknown-fields'] === true) {
      continue;
    }
    if (value[key] !== null) {
      dropNulls(value[key] as Json, field);
    } else if (propertyOf(schema, key) !== undefined) {
      delete value[key];
    } else {
      value[key] = zeroOf(field);
    }
  }
}

const withDefaults = new WeakMap<Schema, boolean>();

/** Whether a schema has a default anywhere. */
export function hasDefaults(schema: Schema): boolean {
  const known = withDefaults.get(schema);
  if (known !== undefined) {
    return known;
  }
  // Recursive schemas (JSONSchemaProps) meet themselves here.
  withDefaults.set(schema, false);
  const { items, additionalProperties, properties = {} } = schema;
  const found =
    schema.default !== undefined ||
    (items !== undefined && hasDefaults(items)) ||
    (typeof additionalProperties === 'object' && hasDefaults(additionalProperties)) ||
    Object.values(properties).some(hasDefaults);
  withDefaults.set(schema, found);
  return found;
}

/** Defaults that an object may get, in bytes of JSON: a small object with a long list could grow without end. */
const maxDefaultBytes = 8 * 1024 * 1024;

/** Defaults make an object too large. */
export class DefaultsError extends Error {}

const defaulted = new WeakMap<Schema, { name: string; schema: Schema }[]>();

/** The properties of a schema that have a default. */
function defaultedOf(schema: Schema): { name: string; schema: Schema }[] {
  let found = defaulted.get(schema);
  if (found === undefined) {
    found = Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
      property.default === undefined ? [] : [{ name, schema: property }],
    );
    defaulted.set(schema, found);
  }
  return found;
}

const defaultSizes = new WeakMap<Schema, number>();

/** The default of a schema, to be put into an object. @throws {DefaultsError} when there is no room left for it. */
function defaultOf(schema: Schema, room: { bytes: number }): Json {
  const value = schema.default as Json;
  let size = defaultSizes.get(schema);
  if (size === undefined) {
    size = JSON.stringify(value).length;
    defaultSizes.set(schema, size);
  }
  room.bytes -= size + 8;
  if (room.bytes < 0) {
    throw new DefaultsError(`its defaults are longer than ${maxDefaultBytes} bytes`);
  }
  return copyOf(value);
}

/**
 * Fills in defaults, in place: for properties that are missing, and for those that are null where the schema allows no
 * null. An absent object gets no defaults inside, unless it has a default itself.
 *
 * @throws {DefaultsError} when they are longer than 8 MiB.
 */
export function applyDefaults(value: Json, schema: Schema, room = { bytes: maxDefaultBytes }): void {
  if (!hasDefaults(schema)) {
    return;
  }
  if (Array.isArray(value)) {
    if (schema.items !== undefined) {
      for (const [index, item] of value.entries()) {
        if (item === null && schema.items.nullable !== true && schema.items.default !== undefined) {
          value[index] = defaultOf(schema.items, room);
        }
        applyDefaults(value[index] as Json, schema.items, room);
      }
    }
    return;
  }
  if (!isJsonObject(value)) {
    return;
  }
  for (const { name, schema: property } of defaultedOf(schema)) {
    const isMissing = !Object.hasOwn(value, name) || (value[name] === null && property.nullable !== true);
    if (isMissing) {
      setOwn(value, name, defaultOf(property, room));
    }
  }
  for (const key of Object.keys(value)) {
    const field = fieldOf(schema, key);
    if (field !== undefined) {
      applyDefaults(value[key] as Json, field, room);
    }
  }
}

/** A deep copy of JSON. Faster than structuredClone for the small objects of an API server. */
export function copyOf<T extends Json>(value: T): T {
  if (Array.isArray(value)) {
    return value.map(copyOf) as T;
  }
  if (isJsonObject(value)) {
    const copy: JsonObject = {};
    for (const key of Object.keys(value)) {
      setOwn(copy, key, copyOf(value[key] as Json));
    }
    return copy as T;
  }
  return value;
}

/** A text that two JSON values share when they are equal; the order of keys does not matter. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) {
    return `[${value.map(canonical).join(',')}]`;
  }
  if (isJsonObject(value)) {
    const keys = Object.keys(value).sort();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key] as Json)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

/** Whether two JSON values are equal; the order of keys does not matter. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) {
    return true;
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (isJsonObject(a) && isJsonObject(b)) {
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
    );
  }
  return false;
}
