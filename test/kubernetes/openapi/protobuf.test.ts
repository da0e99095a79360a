import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Json, type JsonObject, parseJson } from '../../../src/kubernetes/index.ts';
import { PublishedDocument } from '../../../src/kubernetes/openapi/index.ts';

const fixtures = new URL('../../support/fixtures/openapi/', import.meta.url);
const proto = new URL('../../../src/kubernetes/openapi/openapi-v3.proto', import.meta.url);
const messages = protobuf.parse(readFileSync(proto, 'utf8'), { keepCase: true }).root.resolveAll();

const encodeProtobuf = (document: JsonObject) => new PublishedDocument(document, new Date(0)).as('protobuf');

function decode(bytes: Uint8Array): JsonObject {
  const type = messages.lookupType('openapi.v3.Document');
  return type.toObject(type.decode(bytes), { longs: Number }) as JsonObject;
}

test('the recorded document is encoded as the recorded bytes', () => {
  const document = parseJson(readFileSync(new URL('aggregated-old-v3.json', fixtures))) as JsonObject;
  const recorded = readFileSync(new URL('aggregated-old-v3.pb', fixtures));
  expect(Buffer.from(encodeProtobuf(document)).equals(recorded)).toBe(true);
});

test.each(['properties', 'items', 'not'])('schemas can nest as deep as in JSON: %s', (field) => {
  let deep: JsonObject = { description: 'the innermost' };
  for (let depth = 0; depth < (field === 'properties' ? 125 : 250); depth++) {
    deep = { [field]: field === 'properties' ? { p: deep } : deep };
  }
  const encoded = Buffer.from(encodeProtobuf({ components: { schemas: { A: deep } } }));
  expect(encoded.includes('the innermost')).toBe(true);
});

/** The encoded form of one schema. */
function schema(value: Json): Json {
  const encoded = decode(encodeProtobuf({ components: { schemas: { A: value } } }));
  const { components } = encoded as unknown as {
    components: { schemas: { additional_properties: { value: Json }[] } };
  };
  return components.schemas.additional_properties[0]?.value ?? null;
}

describe('schemas', () => {
  test.each<[string, Json, Json]>([
    ['a reference', { $ref: '#/a', description: 'b' }, { reference: { _ref: '#/a', description: 'b' } }],
    [
      'bounds',
      { minimum: -1.5, maxLength: 9_007_199_254_740_991 },
      { schema: { minimum: -1.5, max_length: 9_007_199_254_740_991 } },
    ],
    ['bounds of 0, which the messages cannot represent', { minimum: 0, maxItems: 0 }, { schema: {} }],
    ['a default of 0', { default: 0 }, { schema: { default: { number: 0 } } }],
    ['a default of null', { default: null }, { schema: { default: {} } }],
    [
      'additional properties of any kind',
      { additionalProperties: true },
      { schema: { additional_properties: { boolean: true } } },
    ],
    [
      'additional properties with a schema',
      { additionalProperties: { $ref: '#/a' } },
      { schema: { additional_properties: { schema_or_reference: { reference: { _ref: '#/a' } } } } },
    ],
    [
      'one schema of items',
      { items: { type: 'string' } },
      { schema: { items: { schema_or_reference: [{ schema: { type: 'string' } }] } } },
    ],
    ['none of', { not: { type: 'string' } }, { schema: { not: { type: 'string' } } }],
    [
      'values of an enum',
      { enum: ['a', 1, null, 'yes', '1'] },
      { schema: { enum: ['a\n', '1\n', 'null\n', '"yes"\n', '"1"\n'].map((yaml) => ({ yaml })) } },
    ],
    [
      'a field of another type than the message has',
      { type: ['string', 'null'], maxLength: 1.5, title: 1 },
      { schema: {} },
    ],
    [
      'a field that the message does not have',
      { unknown: 1, 'x-a': 'b c' },
      { schema: { specification_extension: [{ name: 'x-a', value: { yaml: 'b c\n' } }] } },
    ],
    ['items of a list that the message cannot have', { required: ['a', 1, null] }, { schema: { required: ['a'] } }],
    ['what is not an object', { properties: 'x', externalDocs: [1], not: 'y' }, { schema: {} }],
    [
      'a property with the name of the field for all properties',
      { properties: { additionalProperties: { type: 'string' } } },
      {
        schema: {
          properties: {
            additional_properties: [{ name: 'additionalProperties', value: { schema: { type: 'string' } } }],
          },
        },
      },
    ],
    [
      'a property named __proto__',
      JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'),
      {
        schema: {
          properties: { additional_properties: [{ name: '__proto__', value: { schema: { type: 'string' } } }] },
        },
      },
    ],
  ])('%s', (_, json, message) => {
    expect(schema(json)).toEqual(message);
  });
});

test('encodes all parts of a document', () => {
  const document = {
    openapi: '3.0.0',
    info: { title: 't', version: '1', contact: { name: 'c' } },
    servers: [{ url: '/', variables: { a: { default: 'b', enum: ['b'] } } }],
    security: [{ token: ['x', 'y'] }],
    tags: [{ name: 'g' }],
    externalDocs: { url: 'https://example.com' },
    paths: {
      '/a': {
        get: {
          deprecated: true,
          responses: {
            default: { $ref: '#/components/responses/r' },
            200: { description: 'OK', headers: { H: { schema: {} } } },
          },
          callbacks: { c: { '/cb': { post: { operationId: 'o' } } } },
        },
      },
      'x-p': [1],
    },
    components: {
      securitySchemes: {
        token: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'u', scopes: { s: 'd' } } } },
      },
      parameters: { p: { name: 'p', in: 'query', example: { a: 1 }, explode: true } },
      examples: { e: { value: [1] } },
    },
  };
  expect(decode(encodeProtobuf(document))).toEqual({
    openapi: '3.0.0',
    info: { title: 't', version: '1', contact: { name: 'c' } },
    servers: [
      { url: '/', variables: { additional_properties: [{ name: 'a', value: { default: 'b', enum: ['b'] } }] } },
    ],
    security: [{ additional_properties: [{ name: 'token', value: { value: ['x', 'y'] } }] }],
    tags: [{ name: 'g' }],
    external_docs: { url: 'https://example.com' },
    paths: {
      path: [
        {
          name: '/a',
          value: {
            get: {
              deprecated: true,
              responses: {
                default: { reference: { _ref: '#/components/responses/r' } },
                response_or_reference: [
                  {
                    name: '200',
                    value: {
                      response: {
                        description: 'OK',
                        headers: {
                          additional_properties: [{ name: 'H', value: { header: { schema: { schema: {} } } } }],
                        },
                      },
                    },
                  },
                ],
              },
              callbacks: {
                additional_properties: [
                  {
                    name: 'c',
                    value: { callback: { path: [{ name: '/cb', value: { post: { operation_id: 'o' } } }] } },
                  },
                ],
              },
            },
          },
        },
      ],
      specification_extension: [{ name: 'x-p', value: { yaml: '- 1\n' } }],
    },
    components: {
      security_schemes: {
        additional_properties: [
          {
            name: 'token',
            value: {
              security_scheme: {
                type: 'oauth2',
                flows: {
                  client_credentials: {
                    token_url: 'u',
                    scopes: { additional_properties: [{ name: 's', value: 'd' }] },
                  },
                },
              },
            },
          },
        ],
      },
      parameters: {
        additional_properties: [
          {
            name: 'p',
            value: { parameter: { name: 'p', in: 'query', example: { yaml: 'a: 1\n' }, explode: true } },
          },
        ],
      },
      examples: { additional_properties: [{ name: 'e', value: { example: { value: { yaml: '- 1\n' } } } }] },
    },
  });
});

test.each<Json>([
  [{ k0: [['some words']], k1: { k0: '' } }],
  ['yes', '1.5', '~', '2001-01-01', '0x1', 'a: b', '*a', 'two\nlines'],
  { a: [], b: {}, c: null, d: true, e: { f: [1, 2] } },
])('extensions are YAML of the same value: %j', (value) => {
  const { specification_extension: extensions } = (schema({ 'x-a': value }) as { schema: JsonObject }).schema;
  expect(extensions).toEqual([{ name: 'x-a', value: { yaml: expect.any(String) } }]);
  expect(parse((extensions as [{ value: { yaml: string } }])[0].value.yaml, { version: '1.1' })).toEqual(value);
});
