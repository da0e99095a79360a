import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../kubernetes/index.ts';
import { mapValues } from '../models/models.ts';

/** The prefix of every body: https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding */
const magic = Buffer.from('k8s\0');
const description = new URL('./kubernetes.proto', import.meta.url);

/** Fields that the structs of k8s.io/api embed: nested messages on the wire, but inlined in JSON. */
const embedded = new Set([
  'ephemeralContainerCommon',
  'handler',
  'ingressRuleValue',
  'localObjectReference',
  'rule',
  'typeMeta',
  'volumeSource',
]);

const messages = protobuf.parse(readFileSync(description, 'utf8'), { keepCase: true }).root.resolveAll();

/** RFC 3339, without a fraction or with six digits. */
function timeOf({ seconds = 0, nanos = 0 }: { seconds?: number; nanos?: number }, digits: 0 | 6): string {
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  return digits === 0 ? `${whole}Z` : `${whole}.${String(Math.trunc(nanos / 1000)).padStart(6, '0')}Z`;
}

/** Messages that JSON does not represent as objects. */
const scalars: Record<string, (message: JsonObject) => Json | undefined> = {
  Time: (message) => (Object.keys(message).length === 0 ? undefined : timeOf(message, 0)),
  MicroTime: (message) => (Object.keys(message).length === 0 ? undefined : timeOf(message, 6)),
  Quantity: ({ string = '' }) => string,
  IntOrString: ({ type = 0, intVal = 0, strVal = '' }) => (type === 0 ? intVal : strVal),
  FieldsV1: ({ raw }) => (typeof raw === 'string' ? parseJson(Buffer.from(raw, 'base64')) : undefined),
};

function jsonOf(value: Json, type: protobuf.ReflectionObject | null): Json | undefined {
  return type instanceof protobuf.Type && isJsonObject(value) ? objectOf(value, type) : value;
}

/** The JSON of a decoded message, as its Go struct would be serialized. */
function objectOf(message: JsonObject, type: protobuf.Type): Json | undefined {
  const scalar = scalars[type.name];
  if (scalar !== undefined) {
    return scalar(message);
  }
  const entries: [string, Json][] = [];
  for (const field of type.fieldsArray) {
    const value = message[field.name];
    if (value === undefined) {
      continue;
    }
    let json: Json | undefined;
    if (Array.isArray(value)) {
      json = value.flatMap((item) => jsonOf(item, field.resolvedType) ?? []);
    } else if (field.map) {
      json = mapValues(value, (item) => jsonOf(item, field.resolvedType) ?? null);
    } else if (embedded.has(field.name)) {
      entries.push(...Object.entries(jsonOf(value, field.resolvedType) as JsonObject));
    } else if (field.resolvedType !== null || field.partOf !== null || value) {
      json = jsonOf(value, field.resolvedType);
    }
    if (json !== undefined) {
      entries.push([field.name, json]);
    }
  }
  return Object.fromEntries(entries);
}

function decode(type: protobuf.Type, bytes: Uint8Array): JsonObject {
  return type.toObject(type.decode(bytes), { longs: Number, bytes: String }) as JsonObject;
}

/** The JSON of an `application/vnd.kubernetes.protobuf` body; `expected` is its kind if it names none. @throws {Error} */
export function parseProtobuf(body: Uint8Array, expected: string): JsonObject {
  if (!magic.equals(body.subarray(0, magic.length))) {
    throw new Error('the body does not start with the prefix "k8s\\0"');
  }
  const envelope = decode(messages.lookupType('Unknown'), body.subarray(magic.length));
  const typeMeta = (envelope.typeMeta ?? {}) as Record<string, string>;
  const kind = typeMeta.kind || expected;
  const type = messages.get(kind);
  if (!(type instanceof protobuf.Type)) {
    throw new Error(`no protobuf message is known for ${kind}; send JSON`);
  }
  if (envelope.contentEncoding) {
    throw new Error(`content encoding ${JSON.stringify(envelope.contentEncoding)} is not supported`);
  }
  const raw = typeof envelope.raw === 'string' ? Buffer.from(envelope.raw, 'base64') : Buffer.alloc(0);
  const object = objectOf(decode(type, raw), type) as JsonObject;
  return { ...(typeMeta.apiVersion ? { apiVersion: typeMeta.apiVersion } : {}), kind, ...object };
}
