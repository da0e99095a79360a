import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { isJsonObject, type Json, type JsonObject, maxJsonDepth } from '../../kubernetes/index.ts';
import { yamlText } from './yaml-text.ts';

// It stops at 100 nested messages, which is 25 nested properties: definitions have more. JSON nests at most 256 levels, and
// `items` in `items`, at three messages per level, is the most.
protobuf.util.recursionLimit = maxJsonDepth * 3;

/** The versions of OpenAPI that can be encoded. */
export type OpenApiVersion = 'v2' | 'v3';
const descriptions = {
  v2: new URL('./openapi-v2.proto', import.meta.url),
  v3: new URL('./openapi-v3.proto', import.meta.url),
};

/** Converts the JSON of a message to the message. */
type Encode = (json: Json) => object | undefined;
/** Returns the value of a field; undefined for values that the field cannot hold or that are not written. */
type EncodeField = (json: Json) => unknown;

interface Plan {
  type: protobuf.Type;
  encode: Encode;
}

/**
 * Omits zero values, which proto3 does not write. Inside a oneof they count: a schema with `default: 0` differs from
 * one without a default.
 */
function unlessZero(value: unknown): unknown {
  return value === 0 || value === false || value === '' ? undefined : value;
}

const scalars: Record<string, EncodeField> = {
  string: (json) => (typeof json === 'string' ? json : undefined),
  bool: (json) => (typeof json === 'boolean' ? json : undefined),
  double: (json) => (typeof json === 'number' ? json : undefined),
  int64: (json) => (Number.isSafeInteger(json) ? json : undefined),
};

/** `_ref` is `$ref`, `operation_id` is `operationId`. */
function jsonName(field: string): string {
  return field === '_ref' ? '$ref' : field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Fields that hold all keys that no other field of the message has, as a list of names and values. */
const forOtherKeys = new Set(['additional_properties', 'path', 'response_or_reference']);
const extensionFields = new Set(['specification_extension', 'vendor_extension']);

/** The messages of a version of OpenAPI and how to encode each from JSON, derived from their description on first use. */
class Encoder {
  readonly #version: OpenApiVersion;
  readonly #root: protobuf.Root;
  readonly #plans = new Map<string, Plan>();

  constructor(version: OpenApiVersion) {
    this.#version = version;
    this.#root = protobuf.parse(readFileSync(descriptions[version], 'utf8'), { keepCase: true }).root;
    this.#root.resolveAll();
  }

  plan(name: string): Plan {
    let plan = this.#plans.get(name);
    if (plan === undefined) {
      const type = this.#root.lookupType(`openapi.${this.#version}.${name}`);
      // Messages can be recursive, so this one is registered before its fields are read.
      plan = { type, encode: () => undefined };
      this.#plans.set(name, plan);
      plan.encode = this.#encodeOf(type);
    }
    return plan;
  }

  #encodeOf(type: protobuf.Type): Encode {
    if (type.name === 'Any') {
      return (json) => ({ yaml: yamlText(json) });
    }
    const fields = type.fieldsArray;
    if (fields[0]?.partOf) {
      return this.#encodeOfOneof(type);
    }
    const [only] = fields;
    if (['ItemsItem', 'StringArray', 'TypeItem'].includes(type.name) && only !== undefined) {
      const encode = this.#encodeOfField(only);
      return (json) => ({ [only.name]: encode(Array.isArray(json) ? json : [json]) });
    }
    const named = new Map<string, { name: string; encode: EncodeField }>();
    /** Fields that hold other keys: with extensions, and with all the rest. */
    const open: { name: string; encode: EncodeField; takes(key: string): boolean }[] = [];
    for (const field of fields) {
      const { name } = field;
      const isExtension = extensionFields.has(name);
      if (field.repeated && field.resolvedType instanceof protobuf.Type && (isExtension || forOtherKeys.has(name))) {
        // The values of a `NamedX { name, value }` message.
        const encode = this.#encodeOfField(field.resolvedType.fields.value as protobuf.Field);
        const takes = isExtension ? (key: string) => key.startsWith('x-') : () => true;
        isExtension ? open.unshift({ name, encode, takes }) : open.push({ name, encode, takes });
      } else {
        named.set(jsonName(name), { name, encode: this.#encodeOfField(field) });
      }
    }
    return (json) => {
      if (!isJsonObject(json)) {
        return undefined;
      }
      const message: Record<string, unknown> = {};
      const entries = new Map(open.map((field) => [field, [] as object[]]));
      for (const key of Object.keys(json)) {
        const value = json[key] as Json;
        const field = named.get(key);
        if (field !== undefined) {
          message[field.name] = unlessZero(field.encode(value));
          continue;
        }
        const other = open.find(({ takes }) => takes(key));
        entries.get(other as (typeof open)[number])?.push({ name: key, value: other?.encode(value) });
      }
      for (const [{ name }, values] of entries) {
        message[name] = values;
      }
      return message;
    };
  }

  #encodeOfField(field: protobuf.Field): EncodeField {
    const single = this.#encodeOfValue(field);
    if (!field.repeated) {
      return single;
    }
    return (json) => (Array.isArray(json) ? json.map(single).filter((item) => item !== undefined) : undefined);
  }

  #encodeOfValue(field: protobuf.Field): EncodeField {
    const scalar = scalars[field.type];
    if (scalar !== undefined) {
      return scalar;
    }
    const plan = this.plan(field.type);
    return (json) => plan.encode(json);
  }

  #encodeOfOneof(type: protobuf.Type): Encode {
    const { fields } = type;
    const choose = (name: string): Encode => {
      const field = fields[name] as protobuf.Field;
      const encode = this.#encodeOfValue(field);
      return (json) => {
        const value = encode(json);
        return value === undefined ? undefined : { [name]: value };
      };
    };
    if (fields.number !== undefined) {
      const [number, boolean, string] = [choose('number'), choose('boolean'), choose('string')];
      // A default that is a list or an object cannot be written; that there is a default can.
      return (json) => number(json) ?? boolean(json) ?? string(json) ?? {};
    }
    if (fields.boolean !== undefined) {
      const [boolean, schema] = [choose('boolean'), choose(this.#version === 'v2' ? 'schema' : 'schema_or_reference')];
      return (json) => boolean(json) ?? schema(json);
    }
    if (fields.reference !== undefined) {
      const [own] = type.fieldsArray;
      const [value, reference] = [choose((own as protobuf.Field).name), choose('reference')];
      return (json) => (isJsonObject(json) && typeof json.$ref === 'string' ? reference(json) : value(json));
    }
    return choose((type.fieldsArray[0] as protobuf.Field).name);
  }
}

const encoders = new Map<OpenApiVersion, Encoder>();

/**
 * Encodes an OpenAPI document (3.0, or the schemas of 2.0) in protobuf, as a kube-apiserver does: the message
 * `openapi.v3.Document`. What the messages cannot represent is omitted, as in a kube-apiserver: bounds of 0, and defaults
 * that are lists or objects. The work is linear in the document, which must not nest deeper than the stack allows
 * (`parseJson` ensures that).
 */
export function encodeProtobuf(document: JsonObject, version: OpenApiVersion = 'v3'): Uint8Array {
  const encoder = encoders.get(version) ?? new Encoder(version);
  encoders.set(version, encoder);
  const { type, encode } = encoder.plan('Document');
  return type.encode(encode(document) ?? {}).finish();
}
