import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type JsonObject, parseJson } from '../../../src/kubernetes/index.ts';
import { convertV2ToV3, InvalidOpenApi } from '../../../src/kubernetes/openapi/index.ts';
import { expectLinear } from '../../support/work.ts';

const fixtures = new URL('../../support/fixtures/openapi/', import.meta.url);
const recordedV2 = () => parseJson(readFileSync(new URL('aggregated-old-v2.json', fixtures))) as JsonObject;

function swagger(parts: JsonObject): JsonObject {
  return { swagger: '2.0', info: { title: 't', version: '1' }, paths: {}, ...parts };
}

function operation(parts: JsonObject): JsonObject {
  const document = convertV2ToV3(swagger({ paths: { '/a': { get: parts } } }));
  return ((document.paths as JsonObject)['/a'] as JsonObject).get as JsonObject;
}

function schema(value: JsonObject): JsonObject {
  const document = convertV2ToV3(swagger({ definitions: { A: value } }));
  return ((document.components as JsonObject).schemas as JsonObject).A as JsonObject;
}

describe('the recorded document', () => {
  test('becomes the recorded v3 document', () => {
    expect(convertV2ToV3(recordedV2())).toEqual(parseJson(readFileSync(new URL('aggregated-old-v3.json', fixtures))));
  });

  test('is not modified, and may be frozen', () => {
    const freeze = (value: unknown): void => {
      if (typeof value === 'object' && value !== null) {
        Object.values(Object.freeze(value)).forEach(freeze);
      }
    };
    const document = recordedV2();
    freeze(document);
    convertV2ToV3(document);
    expect(document).toEqual(recordedV2());
  });
});

describe('schemas', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['a reference', { $ref: '#/definitions/B' }, { $ref: '#/components/schemas/B' }],
    [
      'a reference with an extension',
      { 'x-a': 1, $ref: '#/definitions/B' },
      { allOf: [{ $ref: '#/components/schemas/B' }], 'x-a': 1 },
    ],
    ['an empty default stays', { type: 'string', default: '' }, { type: 'string', default: '' }],
    [
      'a default of false and one of null',
      { properties: { a: { default: false }, b: { default: null } } },
      { properties: { a: { default: false }, b: { default: null } } },
    ],
    ['items that may be anything', { items: {} }, { items: {} }],
    ['a list of items', { items: [{ $ref: '#/definitions/B' }] }, { items: [{ $ref: '#/components/schemas/B' }] }],
    [
      'additional properties',
      { additionalProperties: { $ref: '#/definitions/B' } },
      { additionalProperties: { $ref: '#/components/schemas/B' } },
    ],
    [
      'a property named __proto__',
      JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'),
      JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'),
    ],
  ])('%s', (_, v2, v3) => {
    expect(schema(v2)).toEqual(v3);
  });
});

describe('operations', () => {
  test('have one entry per media type', () => {
    const get = operation({
      produces: ['text/b', 'text/a'],
      responses: { default: { description: 'any', schema: { type: 'string' } }, 204: { description: '' } },
    });
    const content = { 'text/a': { schema: { type: 'string' } }, 'text/b': { schema: { type: 'string' } } };
    expect(get.responses).toEqual({ 204: { description: '' }, default: { description: 'any', content } });
  });

  test('share parameters and responses', () => {
    const document = convertV2ToV3(
      swagger({
        parameters: {
          body: { name: 'body', in: 'body', schema: { type: 'object' } },
          q: { name: 'q', in: 'query', type: 'string' },
        },
        responses: { gone: { description: 'gone' } },
        paths: {
          '/a': {
            parameters: [{ $ref: '#/parameters/q' }],
            post: {
              consumes: ['application/json'],
              parameters: [{ $ref: '#/parameters/body' }],
              responses: { 410: { $ref: '#/responses/gone' } },
            },
          },
        },
      }),
    );
    expect(document.paths).toEqual({
      '/a': {
        parameters: [{ $ref: '#/components/parameters/q' }],
        post: {
          requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
          responses: { 410: { $ref: '#/components/responses/gone' } },
        },
      },
    });
    expect(document.components).toEqual({
      responses: { gone: { description: 'gone' } },
      parameters: { q: { name: 'q', in: 'query', schema: { type: 'string' } } },
    });
  });

  test('keep security schemes', () => {
    const document = convertV2ToV3(
      swagger({ securityDefinitions: { token: { type: 'apiKey', name: 'authorization', in: 'header' } } }),
    );
    expect(document.components).toEqual({
      securitySchemes: { token: { type: 'apiKey', name: 'authorization', in: 'header' } },
    });
  });
});

describe('rejected documents', () => {
  test.each<[string, JsonObject, string]>([
    ['a v3 document', { openapi: '3.0.0' }, 'swagger: Required value'],
    ['paths that are a list', swagger({ paths: [] }), 'paths: Invalid value'],
    ['a schema that is a text', swagger({ definitions: { A: 'x' } }), 'definitions.A: Invalid value'],
    [
      'a reference elsewhere',
      swagger({ definitions: { A: { $ref: 'http://b/#/c' } } }),
      "definitions.A.$ref in body should match '#/definitions/.'",
    ],
    [
      'produces of numbers',
      swagger({ paths: { '/a': { get: { produces: [1] } } } }),
      'paths./a.get.produces[0]: Invalid value',
    ],
  ])('%s', (_, document, message) => {
    expect(() => convertV2ToV3(document)).toThrow(InvalidOpenApi);
    expect(() => convertV2ToV3(document)).toThrow(message);
  });

  test('a large body shared by many operations', () => {
    const paths: JsonObject = {};
    const consumes = Array.from({ length: 50 }, (_, index) => `a/${index}`);
    for (let index = 0; index < 20; index++) {
      paths[`/${index}`] = { post: { consumes, parameters: [{ $ref: '#/parameters/body' }] } };
    }
    const parameters = { body: { name: 'body', in: 'body', schema: { description: 'x'.repeat(100_000) } } };
    expect(() => convertV2ToV3(swagger({ parameters, paths }))).toThrow(
      'repeated for each media type, have more than 67108864 characters',
    );
  });
});

test('the work is linear in the document', async () => {
  const document = (size: number) => {
    const definitions: JsonObject = {};
    for (let index = 0; index < size; index++) {
      definitions[`D${index}`] = { properties: { a: { $ref: `#/definitions/D${index - 1}` }, b: { type: 'string' } } };
    }
    return swagger({ definitions });
  };
  await expectLinear(6000, async (size) => {
    const { components } = convertV2ToV3(document(size)) as { components: { schemas: object } };
    expect(Object.keys(components.schemas)).toHaveLength(size);
  });
});
