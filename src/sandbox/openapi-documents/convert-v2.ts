import { printable } from '../../base/index.ts';
import { isJsonObject, type Json, type JsonObject, setOwn } from '../../kubernetes/index.ts';

/** Why an OpenAPI v2 document cannot be converted, in one line that names the place in the document. */
export class V2ConversionError extends Error {}

/**
 * Maximum number of media types of an operation. A schema is written once for each of them, so this limits how much a
 * document can grow; API servers have up to seven.
 */
export const maxMediaTypes = 50;
/**
 * Default for the maximum number of characters, in JSON, of all copies of schemas, of which there is one per media
 * type.
 */
const defaultMaxCopied = 64 * 1024 * 1024;

const schemaPrefix = '#/definitions/';
const parameterPrefix = '#/parameters/';
const responsePrefix = '#/responses/';

/**
 * Fields of a schema in the order in which an API server writes them (k8s.io/kube-openapi, pkg/validation/spec). The
 * hash of a document is that of its bytes, so the order matters. All other fields follow, sorted.
 */
const schemaFields = [
  'id',
  '$ref',
  '$schema',
  'description',
  'type',
  'nullable',
  'format',
  'title',
  'default',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'multipleOf',
  'enum',
  'maxProperties',
  'minProperties',
  'required',
  'items',
  'allOf',
  'oneOf',
  'anyOf',
  'not',
  'properties',
  'additionalProperties',
  'patternProperties',
  'dependencies',
  'additionalItems',
  'definitions',
  'discriminator',
  'readOnly',
  'externalDocs',
  'example',
];
const knownSchemaFields = new Set(schemaFields);
/** Fields that are kept even if they are empty, since an empty value differs from an absent one. */
const meaningfulWhenEmpty = new Set(['default', 'example', 'additionalProperties', 'additionalItems', 'items', 'not']);

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function isEmpty(value: Json): boolean {
  return (
    value === null ||
    value === false ||
    value === '' ||
    (Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0)
  );
}

/** The fields that are not empty, since an API server omits empty ones. */
function compact(fields: Record<string, Json | undefined>): JsonObject {
  const entries = Object.entries(fields) as [string, Json][];
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined && !isEmpty(value)));
}

function pick(source: JsonObject, fields: readonly string[]): JsonObject {
  return compact(Object.fromEntries(fields.map((field) => [field, source[field]])));
}

/** Copies a value and sorts the keys of all objects, as an API server writes untyped values. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) {
    return value.map(sorted);
  }
  return isJsonObject(value) ? mapped(value, '', sorted) : value;
}

function wrong(place: string, value: Json | undefined, expected: string): V2ConversionError {
  const shown = value === undefined ? 'is missing' : `is ${printable(JSON.stringify(value).slice(0, 60))}`;
  return new V2ConversionError(`${printable(place.slice(0, 300))} ${shown}; it must be ${expected}`);
}

/** An object, empty if it is absent. @throws {V2ConversionError} for any other value. */
function objectOf(value: Json | undefined, place: string): JsonObject {
  if (value !== undefined && value !== null && !isJsonObject(value)) {
    throw wrong(place, value, 'an object');
  }
  return value ?? {};
}

/** A list, empty if it is absent. @throws {V2ConversionError} for any other value. */
function listOf(value: Json | undefined, place: string): Json[] {
  if (value !== undefined && value !== null && !Array.isArray(value)) {
    throw wrong(place, value, 'a list');
  }
  return value ?? [];
}

/** Converts each value of an object, in the order of the keys. */
function mapped(value: Json | undefined, place: string, convert: (item: Json, place: string) => Json): JsonObject {
  const source = objectOf(value, place);
  const keys = Object.keys(source).sort(compare);
  return Object.fromEntries(keys.map((key) => [key, convert(source[key] as Json, `${place}.${key}`)]));
}

/** The keys of a schema in the order of an API server. */
function keysInOrder(schema: JsonObject): string[] {
  const others = Object.keys(schema).filter((key) => !knownSchemaFields.has(key));
  return [...schemaFields.filter((key) => Object.hasOwn(schema, key)), ...others.sort(compare)];
}

function extensions(source: JsonObject, target: JsonObject): JsonObject {
  for (const key of Object.keys(source).sort(compare)) {
    if (/^[xX]-/.test(key)) {
      setOwn(target, key, sorted(source[key] as Json));
    }
  }
  return target;
}

function mediaTypes(value: Json | undefined, place: string): string[] {
  const types = listOf(value, place);
  if (types.length > maxMediaTypes) {
    throw new V2ConversionError(`${printable(place.slice(0, 300))} has more than ${maxMediaTypes} entries`);
  }
  return types.map((type) => {
    if (typeof type !== 'string') {
      throw wrong(`${place}[]`, type, 'a media type');
    }
    return type;
  });
}

/** One conversion, with the parts of the document that its steps refer to. */
class Conversion {
  /** Parameters that operations share by reference. */
  readonly #parameters: JsonObject;
  /** Schemas of request bodies by parameter, since operations can share parameters. */
  readonly #bodySchemas = new Map<JsonObject, JsonObject>();
  readonly #lengths = new Map<JsonObject, number>();
  readonly #maxCopied: number;
  #copied = 0;

  constructor(document: JsonObject, maxCopied: number) {
    this.#maxCopied = maxCopied;
    this.#parameters = objectOf(document.parameters, 'parameters');
  }

  schema(value: Json, place: string): JsonObject {
    if (!isJsonObject(value)) {
      throw wrong(place, value, 'a schema');
    }
    const inner = (item: Json, itemPlace: string) => this.schema(item, itemPlace);
    const result: JsonObject = {};
    for (const key of keysInOrder(value)) {
      let item = value[key] as Json;
      switch (key) {
        case '$ref': {
          const at = typeof item === 'string' ? item.indexOf(schemaPrefix) : -1;
          if (typeof item !== 'string' || at < 0) {
            throw wrong(`${place}.$ref`, item, `a reference to ${schemaPrefix}NAME`);
          }
          item = `#/components/schemas/${item.slice(at + schemaPrefix.length)}`;
          break;
        }
        case 'properties':
          item = mapped(item, `${place}.properties`, inner);
          break;
        case 'items':
          item = Array.isArray(item)
            ? item.map((part, index) => inner(part, `${place}.items[${index}]`))
            : inner(item, `${place}.items`);
          break;
        case 'additionalProperties':
        case 'additionalItems':
          item = isJsonObject(item) ? inner(item, `${place}.${key}`) : item;
          break;
        // allOf, anyOf, oneOf and not are copied as they are, references included, as by the API server.
        default:
          item = sorted(item);
      }
      if (!isEmpty(item) || meaningfulWhenEmpty.has(key) || !knownSchemaFields.has(key)) {
        setOwn(result, key, item);
      }
    }
    return wrapReference(result);
  }

  parameter(source: JsonObject, place: string): JsonObject {
    if (typeof source.$ref === 'string') {
      return { $ref: source.$ref.replace(parameterPrefix, '#/components/parameters/') };
    }
    const result = pick(source, ['name', 'in', 'description', 'required', 'allowEmptyValue']);
    result.schema =
      source.schema === undefined
        ? pick(source, ['type', 'format', 'uniqueItems'])
        : this.schema(source.schema, `${place}.schema`);
    return extensions(source, result);
  }

  /**
   * A parameter. If a reference leads to a request body, the parameter itself is returned, since v3 has no bodies among
   * parameters.
   */
  #resolved(value: Json, place: string): JsonObject {
    const parameter = objectOf(value, place);
    const { $ref } = parameter;
    if (typeof $ref !== 'string' || !$ref.startsWith(parameterPrefix)) {
      return parameter;
    }
    const name = $ref.slice(parameterPrefix.length);
    const shared = Object.hasOwn(this.#parameters, name) ? this.#parameters[name] : undefined;
    return isJsonObject(shared) && shared.in === 'body' ? shared : parameter;
  }

  response(value: Json, produces: readonly string[], place: string): JsonObject {
    const source = objectOf(value, place);
    if (typeof source.$ref === 'string') {
      return { $ref: source.$ref.replace(responsePrefix, '#/components/responses/') };
    }
    const { description, schema = null } = source;
    const content = schema === null ? {} : this.#content(produces, this.schema(schema, `${place}.schema`), place);
    // The description is required by OpenAPI, so it is written even if it is empty.
    return extensions(source, {
      description: typeof description === 'string' ? description : '',
      ...compact({ content }),
    });
  }

  operation(source: JsonObject, place: string): JsonObject {
    const consumes = mediaTypes(source.consumes, `${place}.consumes`);
    const produces = mediaTypes(source.produces, `${place}.produces`);
    const parameters: JsonObject[] = [];
    let requestBody: JsonObject | undefined;
    for (const [index, value] of listOf(source.parameters, `${place}.parameters`).entries()) {
      const at = `${place}.parameters[${index}]`;
      const parameter = this.#resolved(value, at);
      if ((parameter.name === 'body' || parameter.in === 'body') && isJsonObject(parameter.schema)) {
        requestBody = { content: this.#content(consumes, this.#bodySchema(parameter, at), at) };
      } else {
        parameters.push(this.parameter(parameter, at));
      }
    }
    const sourceResponses = objectOf(source.responses, `${place}.responses`);
    const codes = Object.entries(sourceResponses).filter(([code]) => !/^[xX]-/.test(code));
    // Names of responses are integers, which JavaScript objects keep in ascending order, before `default`.
    const responses = mapped(Object.fromEntries(codes), `${place}.responses`, (value, at) =>
      this.response(value, produces, at),
    );
    return extensions(source, {
      ...pick(source, ['tags', 'summary', 'description']),
      ...compact({
        externalDocs: externalDocs(source, place),
        operationId: source.operationId,
        parameters,
        requestBody,
      }),
      responses: extensions(sourceResponses, responses),
      ...pick(source, ['deprecated']),
    });
  }

  /** One entry per media type, all with the same schema. */
  #content(types: readonly string[], schema: JsonObject, place: string): JsonObject {
    const length = this.#lengths.get(schema) ?? JSON.stringify(schema).length;
    this.#lengths.set(schema, length);
    this.#copied += length * types.length;
    if (this.#copied > this.#maxCopied) {
      const at = printable(place.slice(0, 300));
      throw new V2ConversionError(
        `the schemas up to ${at}, repeated for each media type, have more than ${this.#maxCopied} characters`,
      );
    }
    return Object.fromEntries(types.toSorted(compare).map((type) => [type, { schema }]));
  }

  #bodySchema(parameter: JsonObject, place: string): JsonObject {
    const known = this.#bodySchemas.get(parameter);
    if (known !== undefined) {
      return known;
    }
    const schema = this.schema(parameter.schema as Json, `${place}.schema`);
    this.#bodySchemas.set(parameter, schema);
    return schema;
  }

  path(value: Json, place: string): JsonObject {
    const source = objectOf(value, place);
    const result = pick(source, ['$ref']);
    for (const method of ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']) {
      const at = `${place}.${method}`;
      if (source[method] !== undefined && source[method] !== null) {
        result[method] = this.operation(objectOf(source[method], at), at);
      }
    }
    const parameters = listOf(source.parameters, `${place}.parameters`).map((item, index) => {
      const at = `${place}.parameters[${index}]`;
      return this.parameter(objectOf(item, at), at);
    });
    return extensions(source, { ...result, ...compact({ parameters }) });
  }

  components(document: JsonObject): JsonObject {
    const produces = mediaTypes(document.produces, 'produces');
    const parameters = mapped(document.parameters, 'parameters', (value, place) =>
      this.parameter(objectOf(value, place), place),
    );
    // Request bodies among the shared parameters have become part of the operations.
    const shared = Object.entries(parameters).filter(([, value]) => (value as JsonObject).in !== 'body');
    return compact({
      schemas: mapped(document.definitions, 'definitions', (value, place) => this.schema(value, place)),
      responses: mapped(document.responses, 'responses', (value, place) => this.response(value, produces, place)),
      parameters: Object.fromEntries(shared),
      securitySchemes: mapped(document.securityDefinitions, 'securityDefinitions', securityScheme),
    });
  }
}

/** In v3 a reference cannot have sibling fields: if it has any, it becomes the only element of an allOf. */
function wrapReference(schema: JsonObject): JsonObject {
  const { $ref, ...rest } = schema;
  if ($ref === undefined || Object.keys(rest).length === 0) {
    return schema;
  }
  const wrapped: JsonObject = { ...rest, allOf: [{ $ref }] };
  return Object.fromEntries(keysInOrder(wrapped).map((key) => [key, wrapped[key] as Json]));
}

function externalDocs(source: JsonObject, place: string): JsonObject {
  return pick(objectOf(source.externalDocs, `${place}.externalDocs`), ['description', 'url']);
}

function securityScheme(value: Json, place: string): JsonObject {
  const source = objectOf(value, place);
  const result = pick(source, ['type', 'description', 'name', 'in']);
  if (typeof source.flow === 'string' && source.flow !== '') {
    result.flows = { [source.flow]: pick(source, ['authorizationUrl', 'tokenUrl', 'scopes']) };
  }
  return extensions(source, result);
}

function infoOf(document: JsonObject): JsonObject {
  const source = objectOf(document.info, 'info');
  const fields = ['description', 'title', 'termsOfService', 'contact', 'license', 'version'];
  return extensions(source, pick(source, fields));
}

/**
 * Converts an OpenAPI v2 document to the OpenAPI v3 document that an API server (1.36) generates for an aggregated API
 * server that publishes only v2. Keys are in the same order, so that the bytes of its JSON and their hash are the same.
 * The one addition is shared `parameters`, to which the API server leaves dangling references.
 *
 * The input is not changed. Time and size of the result are linear in it; values may be shared between places in the
 * result.
 *
 * @throws {V2ConversionError} for a value that is not an OpenAPI v2 document, and for a document that has operations with more than `maxMediaTypes` media types, or schemas of more than `maxCopied` characters, counted
 *   once per media type.
 */
export function convertV2ToV3(
  document: JsonObject,
  { maxCopied = defaultMaxCopied }: { maxCopied?: number } = {},
): JsonObject {
  if (document.swagger !== '2.0') {
    throw wrong('swagger', document.swagger, '"2.0": only OpenAPI v2 documents can be converted');
  }
  const conversion = new Conversion(document, maxCopied);
  const result: JsonObject = { openapi: '3.0.0', info: infoOf(document) };
  if (document.paths !== undefined && document.paths !== null) {
    const paths = objectOf(document.paths, 'paths');
    const items = Object.entries(paths).filter(([path]) => path.startsWith('/'));
    const convert = (value: Json, place: string) => conversion.path(value, place);
    result.paths = extensions(paths, mapped(Object.fromEntries(items), 'paths', convert));
  }
  return {
    ...result,
    ...compact({ components: conversion.components(document), externalDocs: externalDocs(document, '') }),
  };
}
