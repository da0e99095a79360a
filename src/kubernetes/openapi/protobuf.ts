import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { stringify } from 'yaml';
import { isJsonObject, type Json, type JsonObject, maxJsonDepth } from '../objects/json/json.ts';

// Its limit is 100: a property takes four messages, and `items` in `items` three. JSON nests at most 256 levels.
protobuf.util.recursionLimit = maxJsonDepth * 3;

export type OpenApiVersion = 'v2' | 'v3';
const descriptions = {
  v2: new URL('./openapi-v2.proto', import.meta.url),
  v3: new URL('./openapi-v3.proto', import.meta.url),
};

const scalars: Record<string, (json: Json) => unknown> = {
  string: (json) => (typeof json === 'string' ? json : undefined),
  bool: (json) => (typeof json === 'boolean' ? json : undefined),
  double: (json) => (typeof json === 'number' ? json : undefined),
  int64: (json) => (Number.isSafeInteger(json) ? json : undefined),
};

/** Fields for all keys that no other field of the message has, as a list of names and values; first those for extensions. */
const extensionFields = ['specification_extension', 'vendor_extension'];
const openFields = [...extensionFields, 'additional_properties', 'path', 'response_or_reference'];

function isOpen({ name, repeated, resolvedType }: protobuf.Field): boolean {
  return openFields.includes(name) && repeated && resolvedType instanceof protobuf.Type;
}

/** The field of a key: `_ref` of `$ref`, `operation_id` of `operationId`; undefined if there is none. */
function fieldOf(type: protobuf.Type, key: string): protobuf.Field | undefined {
  // No key has an underscore: doubled, it is in no field either.
  const name = key === '$ref' ? '_ref' : key.replaceAll(/[A-Z_]/g, (letter) => `_${letter.toLowerCase()}`);
  const field = Object.hasOwn(type.fields, name) ? type.fields[name] : undefined;
  return field && !isOpen(field) ? field : undefined;
}

function encodeValue(field: protobuf.Field, json: Json): unknown {
  const { resolvedType } = field;
  return resolvedType instanceof protobuf.Type ? messageOf(resolvedType, json) : scalars[field.type]?.(json);
}

function encodeField(field: protobuf.Field, json: Json): unknown {
  if (!field.repeated) {
    return encodeValue(field, json);
  }
  return Array.isArray(json)
    ? json.map((item) => encodeValue(field, item)).filter((item) => item !== undefined)
    : undefined;
}

function messageOf(type: protobuf.Type, json: Json): object | undefined {
  const [first] = type.fieldsArray;
  if (type.name === 'Any') {
    return { yaml: stringify(json, { compat: 'yaml-1.1', lineWidth: 0 }) };
  }
  if (first?.partOf) {
    return oneOf(type, json);
  }
  if (['ItemsItem', 'StringArray', 'TypeItem'].includes(type.name) && first !== undefined) {
    return { [first.name]: encodeField(first, Array.isArray(json) ? json : [json]) };
  }
  if (!isJsonObject(json)) {
    return undefined;
  }
  const message: Record<string, unknown> = {};
  const open = type.fieldsArray.filter(isOpen);
  const others = open.find(({ name }) => !extensionFields.includes(name));
  const extensions = open.find(({ name }) => extensionFields.includes(name));
  for (const [key, value] of Object.entries(json)) {
    const field = fieldOf(type, key);
    if (field !== undefined) {
      message[field.name] = encodeField(field, value);
      continue;
    }
    const list = (key.startsWith('x-') ? extensions : undefined) ?? others;
    if (list !== undefined) {
      // The values of a `NamedX { name, value }` message.
      const named = list.resolvedType as protobuf.Type;
      message[list.name] ??= [];
      (message[list.name] as object[]).push({
        name: key,
        value: encodeValue(named.fields.value as protobuf.Field, value),
      });
    }
  }
  return message;
}

function oneOf({ fields, fieldsArray }: protobuf.Type, json: Json): object | undefined {
  const as = (name: string) => {
    const value = fields[name] && encodeValue(fields[name], json);
    return value === undefined ? undefined : { [name]: value };
  };
  if (fields.number !== undefined) {
    // A default that is a list or an object cannot be written; that there is a default can.
    return as('number') ?? as('boolean') ?? as('string') ?? {};
  }
  if (fields.boolean !== undefined) {
    return as('boolean') ?? as('schema') ?? as('schema_or_reference');
  }
  const isReference = fields.reference !== undefined && isJsonObject(json) && typeof json.$ref === 'string';
  return as(isReference ? 'reference' : (fieldsArray[0]?.name ?? ''));
}

const documents = new Map<OpenApiVersion, protobuf.Type>();

/**
 * Encodes an OpenAPI document (3.0, or the schemas of 2.0) in protobuf. As in a kube-apiserver, what the messages cannot
 * represent is omitted: bounds of 0, and defaults that are lists or objects.
 */
export function encodeProtobuf(document: JsonObject, version: OpenApiVersion = 'v3'): Uint8Array {
  let type = documents.get(version);
  if (type === undefined) {
    const { root } = protobuf.parse(readFileSync(descriptions[version], 'utf8'), { keepCase: true });
    type = root.resolveAll().lookupType(`openapi.${version}.Document`);
    documents.set(version, type);
  }
  return type.encode(messageOf(type, document) ?? {}).finish();
}
