import { printable } from '../../base/index.ts';
import { isJsonObject, itemsAt, type Json, type JsonObject, objectAt, own, textAt } from '../objects/json/json.ts';
import { type Schema, validateSchema } from '../schema/index.ts';

/** Why a value is not a usable OpenAPI document: the message continues after the name of the document. */
export class InvalidOpenApi extends Error {}

const unconvertible = (why: string) => new InvalidOpenApi(`cannot be converted from OpenAPI v2: ${why}`);

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

const object: Schema = { type: 'object', nullable: true };
const withFields = (properties: Record<string, Schema>): Schema => ({ ...object, properties });
const mapOf = (additionalProperties: Schema): Schema => ({ ...object, additionalProperties });
const listOf = (items: Schema): Schema => ({ type: 'array', nullable: true, items });

const definition: Schema = { type: 'object', properties: { $ref: { type: 'string', pattern: '#/definitions/.' } } };
Object.assign(definition.properties ?? {}, { properties: mapOf(definition) });
const mediaTypes = listOf({ type: 'string' });
const parameter = withFields({ schema: definition });
const response = withFields({ schema: { ...definition, nullable: true } });
const operation = withFields({
  ...{ consumes: mediaTypes, produces: mediaTypes, parameters: listOf(parameter) },
  ...{ externalDocs: object, responses: object },
});

/** The assumptions of the conversion. */
const v2: Schema = {
  type: 'object',
  required: ['swagger'],
  properties: {
    swagger: { enum: ['2.0'] },
    info: object,
    externalDocs: object,
    produces: mediaTypes,
    paths: mapOf(
      withFields({ parameters: listOf(parameter), ...Object.fromEntries(methods.map((name) => [name, operation])) }),
    ),
    definitions: mapOf(definition),
    parameters: mapOf(parameter),
    responses: mapOf(response),
    securityDefinitions: mapOf(object),
  },
};

function pick(source: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(
    fields.flatMap((field): [string, Json][] => {
      const value = source[field] ?? null;
      return value === null ? [] : [[field, value]];
    }),
  );
}

function compact(fields: Record<string, JsonObject | Json[] | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (value && Object.keys(value).length > 0 ? [[key, value]] : [])),
  );
}

const selected = (source: JsonObject, selects: (key: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(source).filter(([key]) => selects(key)));

const isExtension = (key: string) => /^[xX]-/.test(key);
const extensions = (source: JsonObject) => selected(source, isExtension);

const mapped = (value: Json | undefined, convert: (item: Json) => Json): JsonObject =>
  Object.fromEntries(Object.entries(objectAt(value)).map(([key, item]) => [key, convert(item)]));

const externalDocsOf = (source: JsonObject) => pick(objectAt(source, 'externalDocs'), ['description', 'url']);

const moved = ({ $ref }: JsonObject, from: string, to: string): JsonObject | undefined =>
  typeof $ref === 'string' ? { $ref: $ref.replace(from, to) } : undefined;

function schemaOf(value: Json): Json {
  if (!isJsonObject(value)) {
    return value;
  }
  const { $ref, ...others } = Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, schemaField(key, field)]),
  );
  if ($ref === undefined) {
    return others;
  }
  // In v3 a reference cannot have other fields beside it.
  return Object.keys(others).length === 0 ? { $ref } : { ...others, allOf: [{ $ref }] };
}

function schemaField(key: string, value: Json): Json {
  switch (key) {
    case '$ref':
      return typeof value === 'string' ? value.replace(/^[^#]*#\/definitions\//, '#/components/schemas/') : value;
    case 'properties':
      return mapped(value, schemaOf);
    case 'items':
    case 'additionalProperties':
    case 'additionalItems':
      return Array.isArray(value) ? value.map(schemaOf) : schemaOf(value);
    // allOf, anyOf, oneOf and not are copied as they are, references included, as by the API server.
    default:
      return value;
  }
}

function parameterOf(value: Json): JsonObject {
  const source = objectAt(value);
  const { schema = pick(source, ['type', 'format', 'uniqueItems']) } = source;
  const fields = pick(source, ['name', 'in', 'description', 'required', 'allowEmptyValue']);
  return (
    moved(source, '#/parameters/', '#/components/parameters/') ?? {
      ...{ ...fields, schema: schemaOf(schema) },
      ...extensions(source),
    }
  );
}

function securitySchemeOf(value: Json): JsonObject {
  const source = objectAt(value);
  const flow = textAt(source, 'flow');
  return {
    ...pick(source, ['type', 'description', 'name', 'in']),
    ...(flow === '' ? {} : { flows: { [flow]: pick(source, ['authorizationUrl', 'tokenUrl', 'scopes']) } }),
    ...extensions(source),
  };
}

/**
 * Converts an OpenAPI v2 document to the v3 document that an API server (1.36) generates for an aggregated one that
 * publishes only v2, and shared `parameters`. Time and size are linear in the document.
 *
 * @throws {InvalidOpenApi} for a value that is not an OpenAPI v2 document, and for one with schemas of more than
 *   `maxCopied` characters, counted once per media type.
 */
export function convertV2ToV3(
  document: JsonObject,
  { maxCopied = 64 * 1024 * 1024 }: { maxCopied?: number } = {},
): JsonObject {
  const { paths = null } = document;
  const items = isJsonObject(paths) ? selected(paths, (path) => path.startsWith('/')) : paths;
  const [problem] = validateSchema({ ...document, paths: items }, v2);
  if (problem !== undefined) {
    throw unconvertible(printable(`${problem.field}: ${problem.message}`.slice(0, 500)));
  }
  const shared = objectAt(document, 'parameters');
  let copied = 0;

  /** One entry per media type, all with the same schema. */
  function contentOf(types: readonly Json[], given: Json): JsonObject {
    const schema = schemaOf(given);
    // An entry takes some characters more.
    copied += (JSON.stringify(schema).length + 20) * Math.max(types.length, 1);
    if (copied > maxCopied) {
      throw unconvertible(`its schemas, repeated for each media type, have more than ${maxCopied} characters`);
    }
    return Object.fromEntries(types.map((type) => [type, { schema }]));
  }

  /** The shared request body that a reference leads to, since v3 has no bodies among parameters; else the parameter itself. */
  function resolved(given: JsonObject): JsonObject {
    const [, name] = /^#\/parameters\/(.*)$/s.exec(textAt(given, '$ref')) ?? [];
    const target = objectAt(name === undefined ? undefined : own(shared, name));
    return target.in === 'body' ? target : given;
  }

  function responseOf(value: Json, produces: readonly Json[]): JsonObject {
    const source = objectAt(value);
    const { schema = null } = source;
    return (
      moved(source, '#/responses/', '#/components/responses/') ?? {
        // Required by OpenAPI, so it is written even if it is empty.
        description: textAt(source, 'description'),
        ...compact({ content: schema === null ? {} : contentOf(produces, schema) }),
        ...extensions(source),
      }
    );
  }

  function operationOf(source: JsonObject): JsonObject {
    const isBody = ({ name, in: place, schema }: JsonObject) =>
      (name === 'body' || place === 'body') && isJsonObject(schema);
    const all = itemsAt(source, 'parameters').map((value) => resolved(objectAt(value)));
    const body = all.findLast(isBody);
    const responses = objectAt(source, 'responses');
    return {
      ...pick(source, ['tags', 'summary', 'description', 'operationId', 'deprecated']),
      ...compact({
        externalDocs: externalDocsOf(source),
        parameters: all.filter((one) => !isBody(one)).map(parameterOf),
        requestBody: body && { content: contentOf(itemsAt(source, 'consumes'), body.schema as Json) },
      }),
      responses: {
        ...mapped(
          selected(responses, (code) => !isExtension(code)),
          (value) => responseOf(value, itemsAt(source, 'produces')),
        ),
        ...extensions(responses),
      },
      ...extensions(source),
    };
  }

  function pathItemOf(value: Json): JsonObject {
    const source = objectAt(value);
    return {
      ...pick(source, ['$ref']),
      ...mapped(pick(source, methods), (item) => operationOf(objectAt(item))),
      ...compact({ parameters: itemsAt(source, 'parameters').map(parameterOf) }),
      ...extensions(source),
    };
  }

  const info = objectAt(document, 'info');
  const components = compact({
    schemas: mapped(document.definitions, schemaOf),
    responses: mapped(document.responses, (value) => responseOf(value, itemsAt(document, 'produces'))),
    // Request bodies have become part of the operations.
    parameters: mapped(
      selected(shared, (name) => objectAt(shared, name).in !== 'body'),
      parameterOf,
    ),
    securitySchemes: mapped(document.securityDefinitions, securitySchemeOf),
  });
  return {
    openapi: '3.0.0',
    info: {
      ...pick(info, ['description', 'title', 'termsOfService', 'contact', 'license', 'version']),
      ...extensions(info),
    },
    ...(paths === null ? {} : { paths: { ...mapped(items, pathItemOf), ...extensions(objectAt(paths)) } }),
    ...compact({ components, externalDocs: externalDocsOf(document) }),
  };
}
