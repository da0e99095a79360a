import { printable } from '../../base/index.ts';
import { isJsonObject, type Json, type JsonObject, own } from '../../kubernetes/index.ts';

/** Why an OpenAPI v2 document cannot be converted, in one line that names the place in the document. */
export class V2ConversionError extends Error {}

/** Default for the maximum number of characters, in JSON, of all copies of schemas: a schema is written once per media type. */
const defaultMaxCopied = 64 * 1024 * 1024;

const schemaPrefix = '#/definitions/';
const parameterPrefix = '#/parameters/';
const responsePrefix = '#/responses/';

/** The fields that have a value. */
function pick(source: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(
    fields.flatMap((field): [string, Json][] => {
      const value = source[field] ?? null;
      return value === null ? [] : [[field, value]];
    }),
  );
}

/** The fields that are not empty. */
function compact(fields: Record<string, JsonObject | Json[] | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (value && Object.keys(value).length > 0 ? [[key, value]] : [])),
  );
}

const isExtension = (key: string) => /^[xX]-/.test(key);

function extensions(source: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(source).filter(([key]) => isExtension(key)));
}

/** A reference with another prefix; undefined for what is none. */
const moved = ({ $ref }: JsonObject, from: string, to: string): JsonObject | undefined =>
  typeof $ref === 'string' ? { $ref: $ref.replace(from, to) } : undefined;

/** One conversion, with the parts of the document that its steps refer to. */
class Conversion {
  /** Parameters that operations share by reference. */
  readonly #parameters: JsonObject;
  readonly #maxCopied: number;
  #copied = 0;
  /** The steps to the value that is being converted: `.items`, `[0]`. */
  readonly #path: string[] = [];

  constructor(document: JsonObject, maxCopied: number) {
    this.#maxCopied = maxCopied;
    this.#parameters = this.#at(document, 'parameters', (value) => this.#object(value));
  }

  /** Where in the document the conversion is. */
  get #place(): string {
    return printable(this.#path.join('').replace('.', '').slice(0, 300));
  }

  #fail(value: Json | undefined, expected: string): never {
    const shown = value === undefined ? 'is missing' : `is ${printable(JSON.stringify(value).slice(0, 60))}`;
    throw new V2ConversionError(`${this.#place} ${shown}; it must be ${expected}`);
  }

  /** Converts a field, or an item. After an error, the path leads to it. */
  #at<T>(holder: JsonObject | Json[], key: string | number, convert: (value: Json | undefined) => T): T {
    this.#path.push(typeof key === 'number' ? `[${key}]` : `.${key}`);
    const result = convert((holder as JsonObject)[key]);
    this.#path.pop();
    return result;
  }

  /** An object, empty if it is absent. */
  #object(value: Json | undefined): JsonObject {
    return isJsonObject(value ?? {}) ? ((value ?? {}) as JsonObject) : this.#fail(value, 'an object');
  }

  /** A list, empty if it is absent, with its items converted. */
  #list<T>(value: Json | undefined, convert: (item: Json | undefined) => T): T[] {
    const list = value ?? [];
    return Array.isArray(list) ? list.map((_, index) => this.#at(list, index, convert)) : this.#fail(value, 'a list');
  }

  /** Converts each value of an object. */
  #map(value: Json | undefined, convert: (item: Json | undefined) => Json): JsonObject {
    const source = this.#object(value);
    return Object.fromEntries(Object.keys(source).map((key) => [key, this.#at(source, key, convert)]));
  }

  #mediaTypes(source: JsonObject, field: 'consumes' | 'produces'): string[] {
    return this.#at(source, field, (value) =>
      this.#list(value, (type) => (typeof type === 'string' ? type : this.#fail(type, 'a media type'))),
    );
  }

  #externalDocs(source: JsonObject): JsonObject {
    return this.#at(source, 'externalDocs', (value) => pick(this.#object(value), ['description', 'url']));
  }

  readonly #schema = (value: Json | undefined): JsonObject => {
    if (!isJsonObject(value)) {
      return this.#fail(value, 'a schema');
    }
    const { $ref, ...others } = Object.fromEntries(
      Object.keys(value).map((key) => [key, this.#at(value, key, (field) => this.#schemaField(key, field as Json))]),
    );
    if ($ref === undefined) {
      return others;
    }
    // In v3 a reference cannot have other fields beside it.
    return Object.keys(others).length === 0 ? { $ref } : { ...others, allOf: [{ $ref }] };
  };

  #schemaField(key: string, value: Json): Json {
    switch (key) {
      case '$ref': {
        const at = typeof value === 'string' ? value.indexOf(schemaPrefix) : -1;
        return typeof value === 'string' && at >= 0
          ? `#/components/schemas/${value.slice(at + schemaPrefix.length)}`
          : this.#fail(value, `a reference to ${schemaPrefix}NAME`);
      }
      case 'properties':
        return this.#map(value, this.#schema);
      case 'items':
        return Array.isArray(value) ? this.#list(value, this.#schema) : this.#schema(value);
      case 'additionalProperties':
      case 'additionalItems':
        return isJsonObject(value) ? this.#schema(value) : value;
      // allOf, anyOf, oneOf and not are copied as they are, references included, as by the API server.
      default:
        return value;
    }
  }

  readonly #parameter = (value: Json | undefined): JsonObject => {
    const source = this.#object(value);
    const reference = moved(source, parameterPrefix, '#/components/parameters/');
    if (reference !== undefined) {
      return reference;
    }
    const schema =
      source.schema === undefined
        ? pick(source, ['type', 'format', 'uniqueItems'])
        : this.#at(source, 'schema', this.#schema);
    const fields = pick(source, ['name', 'in', 'description', 'required', 'allowEmptyValue']);
    return { ...fields, schema, ...extensions(source) };
  };

  /** The shared request body that a reference leads to, since v3 has no bodies among parameters; else the parameter itself. */
  #resolved(parameter: JsonObject): JsonObject {
    const { $ref } = parameter;
    const isShared = typeof $ref === 'string' && $ref.startsWith(parameterPrefix);
    const shared = isShared ? own(this.#parameters, $ref.slice(parameterPrefix.length)) : undefined;
    return isJsonObject(shared) && shared.in === 'body' ? shared : parameter;
  }

  #response(value: Json | undefined, produces: readonly string[]): JsonObject {
    const source = this.#object(value);
    const reference = moved(source, responsePrefix, '#/components/responses/');
    if (reference !== undefined) {
      return reference;
    }
    const { description, schema = null } = source;
    const content = schema === null ? {} : this.#content(produces, this.#at(source, 'schema', this.#schema));
    // The description is required by OpenAPI, so it is written even if it is empty.
    return {
      description: typeof description === 'string' ? description : '',
      ...compact({ content }),
      ...extensions(source),
    };
  }

  #operation(source: JsonObject): JsonObject {
    const consumes = this.#mediaTypes(source, 'consumes');
    const produces = this.#mediaTypes(source, 'produces');
    let requestBody: JsonObject | undefined;
    const parameters = this.#at(source, 'parameters', (list) =>
      this.#list(list, (value) => {
        const parameter = this.#resolved(this.#object(value));
        if ((parameter.name !== 'body' && parameter.in !== 'body') || !isJsonObject(parameter.schema)) {
          return this.#parameter(parameter);
        }
        requestBody = { content: this.#content(consumes, this.#at(parameter, 'schema', this.#schema)) };
        return [];
      }),
    ).flat();
    const responses = this.#at(source, 'responses', (value) => {
      const all = this.#object(value);
      const codes = Object.fromEntries(Object.entries(all).filter(([code]) => !isExtension(code)));
      return { ...this.#map(codes, (response) => this.#response(response, produces)), ...extensions(all) };
    });
    return {
      ...pick(source, ['tags', 'summary', 'description', 'operationId', 'deprecated']),
      ...compact({ externalDocs: this.#externalDocs(source), parameters, requestBody }),
      responses,
      ...extensions(source),
    };
  }

  /** One entry per media type, all with the same schema. */
  #content(types: readonly string[], schema: JsonObject): JsonObject {
    // An entry takes some characters more.
    this.#copied += (JSON.stringify(schema).length + 20) * Math.max(types.length, 1);
    if (this.#copied > this.#maxCopied) {
      throw new V2ConversionError(
        `the schemas up to ${this.#place}, repeated for each media type, have more than ${this.#maxCopied} characters`,
      );
    }
    return Object.fromEntries(types.map((type) => [type, { schema }]));
  }

  readonly #pathItem = (value: Json | undefined): JsonObject => {
    const source = this.#object(value);
    const result = pick(source, ['$ref']);
    for (const method of ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']) {
      if (source[method] !== undefined && source[method] !== null) {
        result[method] = this.#at(source, method, (operation) => this.#operation(this.#object(operation)));
      }
    }
    const parameters = this.#at(source, 'parameters', (list) => this.#list(list, this.#parameter));
    return { ...result, ...compact({ parameters }), ...extensions(source) };
  };

  readonly #securityScheme = (value: Json | undefined): JsonObject => {
    const source = this.#object(value);
    const result = pick(source, ['type', 'description', 'name', 'in']);
    if (typeof source.flow === 'string' && source.flow !== '') {
      result.flows = { [source.flow]: pick(source, ['authorizationUrl', 'tokenUrl', 'scopes']) };
    }
    return { ...result, ...extensions(source) };
  };

  document(source: JsonObject): JsonObject {
    this.#at(
      source,
      'swagger',
      (value) => value === '2.0' || this.#fail(value, '"2.0": only OpenAPI v2 documents can be converted'),
    );
    const infoFields = ['description', 'title', 'termsOfService', 'contact', 'license', 'version'];
    const info = this.#at(source, 'info', (value) => {
      const object = this.#object(value);
      return { ...pick(object, infoFields), ...extensions(object) };
    });
    const paths = this.#at(source, 'paths', (value) => {
      const all = this.#object(value);
      const items = Object.entries(all).filter(([path]) => path.startsWith('/'));
      return { ...this.#map(Object.fromEntries(items), this.#pathItem), ...extensions(all) };
    });
    const produces = this.#mediaTypes(source, 'produces');
    const section = (field: string, convert: (value: Json | undefined) => JsonObject) =>
      this.#at(source, field, (value) => this.#map(value, convert));
    // Request bodies among the shared parameters have become part of the operations.
    const parameters = Object.entries(section('parameters', this.#parameter)).filter(
      ([, value]) => (value as JsonObject).in !== 'body',
    );
    const components = compact({
      schemas: section('definitions', this.#schema),
      responses: section('responses', (value) => this.#response(value, produces)),
      parameters: Object.fromEntries(parameters),
      securitySchemes: section('securityDefinitions', this.#securityScheme),
    });
    return {
      openapi: '3.0.0',
      info,
      ...(source.paths === undefined || source.paths === null ? {} : { paths }),
      ...compact({ components, externalDocs: this.#externalDocs(source) }),
    };
  }
}

/**
 * Converts an OpenAPI v2 document to the OpenAPI v3 document that an API server (1.36) generates for an aggregated API
 * server that publishes only v2; it is an equal document, but not one of the same bytes. The one addition is shared
 * `parameters`, to which the API server leaves dangling references.
 *
 * The input is not changed. Time and size of the result are linear in it; values may be shared between places in the
 * result.
 *
 * @throws {V2ConversionError} for a value that is not an OpenAPI v2 document, and for one with schemas of more than
 *   `maxCopied` characters, counted once per media type.
 */
export function convertV2ToV3(
  document: JsonObject,
  { maxCopied = defaultMaxCopied }: { maxCopied?: number } = {},
): JsonObject {
  return new Conversion(document, maxCopied).document(document);
}
