import { isJsonObject, type Json, type JsonObject } from '../../kubernetes/index.ts';
import type { HookDefinition } from '../catalog/definition.ts';
import { componentPrefix, type MessageSchema } from '../catalog/schema.ts';
import { type Components, componentOf } from './components.ts';

/** Go's types of text fields that have one of their own. */
const textTypes: Readonly<Record<string, string>> = {
  status: 'v1alpha1.ResponseStatus',
  failurePolicy: 'v1alpha1.FailurePolicy',
  patchType: 'v1alpha1.PatchType',
  uid: 'types.UID',
};

/** The structs that a response embeds for a field, outermost first: since Go 1.24 they are part of its path. */
function embeddingOf(field: string, { properties = {} }: MessageSchema): string[] {
  switch (field) {
    case 'apiVersion':
    case 'kind':
      return ['TypeMeta'];
    case 'retryAfterSeconds':
      return ['CommonRetryResponse'];
    case 'status':
    case 'message':
      return [...(Object.hasOwn(properties, 'retryAfterSeconds') ? ['CommonRetryResponse'] : []), 'CommonResponse'];
    default:
      return [];
  }
}

/** The Go type of a component by its reference: `v1alpha1.ExtensionHandler`. */
const typeName = (reference: string) => reference.split('.').slice(-2).join('.');

const referenceIn = ({ $ref, allOf }: MessageSchema) => $ref ?? allOf?.[0]?.$ref;

/** The Go type of a field. */
function goType(schema: MessageSchema, field = ''): string {
  const reference = referenceIn(schema);
  if (reference !== undefined) {
    return typeName(reference);
  }
  const { type, format, items = {}, additionalProperties = {} } = schema;
  switch (type) {
    case 'array':
      return `[]${goType(items)}`;
    case 'object':
      return `map[string]${goType(additionalProperties)}`;
    case 'boolean':
      return 'bool';
    case 'integer':
      return format ?? 'int64';
    default:
      return format === 'byte' ? '[]uint8' : (textTypes[field] ?? 'string');
  }
}

const isInt = (value: number, format: string | undefined) =>
  Number.isInteger(value) && (format !== 'int32' || Math.abs(value + 0.5) < 2 ** 31);

/** What Go calls a value that does not fit a schema of another type; undefined if it fits. */
function unfit(value: Json, { type, format }: MessageSchema): string | undefined {
  if (typeof value === 'number') {
    return type !== 'integer' ? 'number' : isInt(value, format) ? undefined : `number ${value}`;
  }
  const jsonType = Array.isArray(value) ? 'array' : typeof value;
  return jsonType === type ? undefined : jsonType === 'boolean' ? 'bool' : jsonType;
}

/** Why Go cannot read a text as bytes; undefined if it is standard base64. */
function base64Problem(text: string): string | undefined {
  const plain = text.replaceAll(/[\r\n]/g, '');
  if (/^[A-Za-z0-9+/]*={0,2}$/.test(plain) && plain.length % 4 === 0) {
    return undefined;
  }
  const wrong = plain.search(/[^A-Za-z0-9+/=]/);
  return `illegal base64 data at input byte ${wrong === -1 ? plain.length - (plain.length % 4) : wrong}`;
}

/**
 * Why Go's encoding/json cannot read a response, in its words: about the first field, in the order of the text, that is
 * of another type than in Cluster API's struct. Undefined if Go can read it.
 *
 * @param value the response, with the names of its fields as in the schema.
 */
export function goTypeError({ response }: HookDefinition, components: Components, value: Json): string | undefined {
  function fieldsProblem(fields: JsonObject, known: MessageSchema, path: readonly string[], struct: string) {
    const { properties = {}, additionalProperties } = known;
    for (const [name, field] of Object.entries(fields)) {
      const schema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      // Keys of maps are not part of the path.
      const step =
        schema === additionalProperties ? [] : [...(path.length === 0 ? embeddingOf(name, known) : []), name];
      const problem = schema && problemOf(field, schema, [...path, ...step], struct);
      if (problem !== undefined) {
        return problem;
      }
    }
    return undefined;
  }
  /** `struct` is a reference to the innermost struct that has the field at the end of `path`. */
  function problemOf(value: Json, schema: MessageSchema, path: readonly string[], struct: string): string | undefined {
    const reference = referenceIn(schema);
    const known = reference === undefined ? schema : components.get(componentOf(reference));
    if (value === null || known?.type === undefined) {
      return undefined;
    }
    const kind = unfit(value, known);
    if (kind !== undefined) {
      const owner = struct.slice(struct.lastIndexOf('.') + 1);
      const place = path.length === 0 ? 'value' : `struct field ${owner}.${path.join('.')}`;
      return `json: cannot unmarshal ${kind} into Go ${place} of type ${goType(schema, path.at(-1))}`;
    }
    if (typeof value === 'string') {
      return known.format === 'byte' ? base64Problem(value) : undefined;
    }
    if (Array.isArray(value)) {
      for (const item of value) {
        const problem = known.items && problemOf(item, known.items, path, struct);
        if (problem !== undefined) {
          return problem;
        }
      }
      return undefined;
    }
    return isJsonObject(value) ? fieldsProblem(value, known, path, reference ?? struct) : undefined;
  }
  const reference = `${componentPrefix}${response.component}`;
  return problemOf(value, { $ref: reference }, [], reference);
}
