import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { convertV2ToV3, InvalidOpenApi } from '../../../src/kubernetes/openapi/index.ts';

const swagger = (parts: JsonObject): JsonObject => ({ swagger: '2.0', info: { title: 't', version: '1' }, ...parts });
const head = '{"openapi":"3.0.0","info":{"title":"t","version":"1"}';

test('a whole document', () => {
  const operation = {
    deprecated: true,
    'x-b': 2,
    'X-a': { z: 1, b: [{ y: 1, x: 2 }] },
    operationId: 'readA',
    summary: 's',
    tags: ['t'],
    description: '',
    externalDocs: { url: 'https://b', 'x-c': 1, description: 'd' },
    produces: ['text/b', 'text/a'],
    consumes: ['text/c'],
    parameters: [
      { in: 'query', name: 'q', type: 'string', format: 'date', uniqueItems: true, required: true, 'x-q': 1 },
      { in: 'query', name: 'e', allowEmptyValue: true, description: 'd', type: 'integer', required: false },
      { in: 'header', name: 'body', type: 'string' },
      { in: 'body', name: 'any', schema: { $ref: '#/definitions/A' } },
    ],
    responses: {
      'x-r': 1,
      default: { description: 'any', 'x-d': { b: 1, a: 2 } },
      404: {},
      200: { description: 'fine', schema: { type: 'array', items: { type: 'string' } } },
    },
  };
  const document = swagger({
    'x-ignored': 1,
    externalDocs: { description: 'more', url: 'https://a' },
    info: {
      version: '1',
      license: { name: 'MIT' },
      contact: { name: 'me' },
      termsOfService: 'tos',
      title: 't',
      description: 'd',
      'x-i': 1,
    },
    paths: {
      '/b': { 'x-p': 1, $ref: '#/paths/~1a', parameters: [{ name: 'p', in: 'path', type: 'string', required: true }] },
      'x-paths': { b: 1, a: 2 },
      ignored: {},
      '/a': { patch: {}, head: {}, options: {}, delete: {}, post: {}, put: {}, get: operation, trace: {} },
    },
    securityDefinitions: {
      oauth: {
        type: 'oauth2',
        flow: 'accessCode',
        scopes: { read: 'Read' },
        tokenUrl: 'https://t',
        authorizationUrl: 'https://a',
        description: 'd',
        'x-s': 1,
      },
      basic: { type: 'basic', flow: '' },
    },
  });
  const empty = { responses: {} };
  expect(convertV2ToV3(document)).toEqual({
    openapi: '3.0.0',
    info: {
      description: 'd',
      title: 't',
      termsOfService: 'tos',
      contact: { name: 'me' },
      license: { name: 'MIT' },
      version: '1',
      'x-i': 1,
    },
    paths: {
      '/a': {
        get: {
          tags: ['t'],
          summary: 's',
          description: '',
          externalDocs: { description: 'd', url: 'https://b' },
          operationId: 'readA',
          parameters: [
            {
              name: 'q',
              in: 'query',
              required: true,
              schema: { type: 'string', format: 'date', uniqueItems: true },
              'x-q': 1,
            },
            {
              name: 'e',
              in: 'query',
              description: 'd',
              required: false,
              allowEmptyValue: true,
              schema: { type: 'integer' },
            },
            { name: 'body', in: 'header', schema: { type: 'string' } },
          ],
          requestBody: { content: { 'text/c': { schema: { $ref: '#/components/schemas/A' } } } },
          responses: {
            200: {
              description: 'fine',
              content: {
                'text/a': { schema: { type: 'array', items: { type: 'string' } } },
                'text/b': { schema: { type: 'array', items: { type: 'string' } } },
              },
            },
            404: { description: '' },
            default: { description: 'any', 'x-d': { a: 2, b: 1 } },
            'x-r': 1,
          },
          deprecated: true,
          'X-a': { b: [{ x: 2, y: 1 }], z: 1 },
          'x-b': 2,
        },
        put: empty,
        post: empty,
        delete: empty,
        options: empty,
        head: empty,
        patch: empty,
      },
      '/b': {
        $ref: '#/paths/~1a',
        parameters: [{ name: 'p', in: 'path', required: true, schema: { type: 'string' } }],
        'x-p': 1,
      },
      'x-paths': { a: 2, b: 1 },
    },
    components: {
      securitySchemes: {
        basic: { type: 'basic' },
        oauth: {
          type: 'oauth2',
          description: 'd',
          flows: {
            accessCode: { authorizationUrl: 'https://a', tokenUrl: 'https://t', scopes: { read: 'Read' } },
          },
          'x-s': 1,
        },
      },
    },
    externalDocs: { description: 'more', url: 'https://a' },
  });
});

test.each<[string, JsonObject, string]>([
  ['nothing', {}, `${head}}`],
  ['no paths', { paths: {} }, `${head},"paths":{}}`],
  ['values of null', { paths: null, definitions: null, info: { title: 't', version: '1' } }, `${head}}`],
  [
    'a parameter with a schema that is named body',
    { paths: { '/a': { get: { consumes: ['a/b'], parameters: [{ name: 'body', in: 'x', schema: {} }] } } } },
    `${head},"paths":{"/a":{"get":{"requestBody":{"content":{"a/b":{"schema":{}}}},"responses":{}}}}}`,
  ],
  [
    'a parameter with a schema of its own',
    { parameters: { p: { name: 'p', in: 'query', schema: { type: 'string' } } } },
    `${head},"components":{"parameters":{"p":{"name":"p","in":"query","schema":{"type":"string"}}}}}`,
  ],
  [
    'references to parameters elsewhere, and to missing ones',
    {
      parameters: { b: { name: 'b', in: 'query', type: 'string' } },
      paths: { '/a': { get: { parameters: [{ $ref: '#/x' }, { $ref: '#/parameters/toString' }] } } },
    },
    `${head},"paths":{"/a":{"get":{"parameters":[{"$ref":"#/x"},{"$ref":"#/components/parameters/toString"}],"responses":{}}}},"components":{"parameters":{"b":{"name":"b","in":"query","schema":{"type":"string"}}}}}`,
  ],
  [
    'shared responses: with the media types of the document',
    { produces: ['a/b'], responses: { r: { description: 'd', schema: { type: 'string' } } } },
    `${head},"components":{"responses":{"r":{"description":"d","content":{"a/b":{"schema":{"type":"string"}}}}}}}`,
  ],
  [
    'a response without a schema, and one that produces nothing',
    { responses: { a: { description: 1, schema: null }, b: { description: 'd', schema: { type: 'string' } } } },
    `${head},"components":{"responses":{"a":{"description":""},"b":{"description":"d"}}}}`,
  ],
])('%s', (_, parts, expected) => {
  expect(convertV2ToV3(swagger(parts))).toEqual(JSON.parse(expected));
});

test('definitions: references are changed where they are schemas to an API server, and all else is kept', () => {
  const $ref = '#/definitions/B';
  const rest: JsonObject = {
    'x-a': { $ref },
    example: { $ref },
    enum: [{ $ref }],
    // Only properties, items and additional ones are schemas to it.
    anyOf: [{ $ref }],
    required: [],
    nullable: false,
    zz: '',
  };
  const parts = (to: string): JsonObject => ({
    properties: { a: { $ref: to } },
    items: [{ $ref: to }, { items: { $ref: to } }],
    additionalItems: { $ref: to },
    additionalProperties: { $ref: to },
  });
  const document = convertV2ToV3(swagger({ definitions: { Z: {}, A: { ...rest, ...parts($ref) } } }));
  expect(document.components).toEqual({
    schemas: { Z: {}, A: { ...rest, ...parts('#/components/schemas/B') } },
  });
});

test('a reference with other fields is in an allOf', () => {
  const $ref = '#/definitions/B';
  const document = convertV2ToV3(
    swagger({ definitions: { A: { title: 'T', zz: 1, $ref, allOf: [{}], default: 1, additionalItems: { $ref } } } }),
  );
  const { schemas } = document.components as { schemas: JsonObject };
  const reference = { $ref: '#/components/schemas/B' };
  expect(schemas.A).toEqual({ title: 'T', default: 1, allOf: [reference], additionalItems: reference, zz: 1 });
});

const inOperation = (parts: JsonObject): JsonObject => ({ paths: { '/a': { get: parts } } });
const schemaAt = (levels: number): JsonObject => (levels === 0 ? {} : { items: schemaAt(levels - 1) });
const valueAt = (levels: number): Json => (levels === 0 ? 1 : [valueAt(levels - 1)]);
const mapAt = (levels: number): Json => (levels === 0 ? 1 : { a: mapAt(levels - 1) });

test.each<[JsonObject, string]>([
  [{ info: 1 }, 'info: Invalid value: "integer": info in body must be of type object: "integer"'],
  [{ definitions: { A: { properties: { b: 1 } } } }, 'definitions.A.properties.b: '],
  [{ definitions: { A: { $ref: 1 } } }, 'definitions.A.$ref: '],
  [{ definitions: { ['x'.repeat(800)]: 1 } }, `definitions.${'x'.repeat(488)}`],
  [{ parameters: [] }, 'parameters: '],
  [{ parameters: { p: { schema: 1 } } }, 'parameters.p.schema: '],
  [{ responses: { r: { schema: 1 } } }, 'responses.r.schema: '],
  [{ produces: {} }, 'produces: '],
  [{ securityDefinitions: { s: 1 } }, 'securityDefinitions.s: '],
  [{ externalDocs: 1 }, 'externalDocs: '],
  [{ paths: { 'x-a': 1, '/a': 1 } }, 'paths./a: '],
  [{ paths: { '/a': { get: 1 } } }, 'paths./a.get: '],
  [{ paths: { '/a': { parameters: [1] } } }, 'paths./a.parameters[0]: '],
  [inOperation({ consumes: ['a', 1] }), 'paths./a.get.consumes[1]: '],
  [inOperation({ externalDocs: 1 }), 'paths./a.get.externalDocs: '],
  [
    inOperation({ parameters: [{ in: 'body', schema: { properties: 1 } }] }),
    'paths./a.get.parameters[0].schema.properties: ',
  ],
  [inOperation({ responses: 1 }), 'paths./a.get.responses: '],
])('%#: %.60j is refused', (parts, message) => {
  expect(() => convertV2ToV3(swagger(parts))).toThrow(InvalidOpenApi);
  expect(() => convertV2ToV3(swagger(parts))).toThrow(message);
});

test('what is at a limit is accepted', () => {
  expect(() => convertV2ToV3(swagger({ definitions: { A: schemaAt(256) } }))).not.toThrow();
  expect(() => convertV2ToV3(swagger({ definitions: { A: { default: valueAt(256) } } }))).not.toThrow();
  // 15 characters and 20 around them, once for each of two media types.
  const parts = inOperation({
    produces: ['a/a', 'b/b'],
    responses: { 200: { description: 'd', schema: { type: 'abcd' } } },
  });
  expect(() => convertV2ToV3(swagger(parts), { maxCopied: 70 })).not.toThrow();
  expect(() => convertV2ToV3(swagger(parts), { maxCopied: 69 })).toThrow(
    new InvalidOpenApi(
      'cannot be converted from OpenAPI v2: its schemas, repeated for each media type, have more than 69 characters',
    ),
  );
});
