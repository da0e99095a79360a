import { describe, expect, test } from 'vitest';
import { documentList, InvalidOpenApi, readOpenApi } from '../../src/openapi/index.ts';

const read = (text: string) => readOpenApi(Buffer.from(text));

test('reads JSON, YAML and OpenAPI v2', () => {
  const document = { openapi: '3.0.3', info: { title: 't', version: '1' }, paths: {} };
  expect(read(`\n ${JSON.stringify(document)}`)).toEqual({ document, isConverted: false });
  expect(read('openapi: 3.0.3\ninfo: {title: t, version: "1"}\npaths: {}\n')).toEqual({ document, isConverted: false });
  expect(read('swagger: "2.0"\ninfo: {title: t, version: "1"}\npaths: {}\n')).toEqual({
    document: { ...document, openapi: '3.0.0' },
    isConverted: true,
  });
});

test('reads aliases, dates and __proto__ in YAML as JSON represents them', () => {
  const { document } = read('openapi: 3.0.0\npaths: {}\nx-a: &a {b: 1}\nx-c: *a\n__proto__: {d: 1}\n');
  expect(document['x-c']).toEqual({ b: 1 });
  expect(Object.hasOwn(document, '__proto__')).toBe(true);
});

describe('rejects what is not a document', () => {
  const bomb = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]'];
  for (let index = 1; index < 12; index++) {
    bomb.push(
      `a${index}: &a${index} [${Array(10)
        .fill(`*a${index - 1}`)
        .join()}]`,
    );
  }
  test.each([
    ['', 'is not valid JSON'],
    ['{"openapi": ', 'is not valid JSON'],
    ['a: b: c', 'is not valid YAML: '],
    ['just text', 'is not an OpenAPI document: it is not an object'],
    ['[]', 'is not an OpenAPI document: it is not an object'],
    ['kind: Pod', 'is not an OpenAPI document: it has no "openapi"'],
    ['{"openapi":"3.1.0"}', 'is OpenAPI "3.1.0"; only OpenAPI 3.0 and 2.0 documents can be merged'],
    ['{"openapi":"3.0.0","paths":[]}', 'is not an OpenAPI document: "paths" is not an object'],
    ['{"openapi":"3.0.0","info":5}', 'is not an OpenAPI document: "info" is not an object'],
    ['{"openapi":"3.0.0","paths":{"/a":1}}', '"paths./a" is not an object'],
    ['{"openapi":"3.0.0","paths":{"x-a":1,"x\\u001b":{}}}', 'has the path "x\\u001b", which must begin with /'],
    ['{"openapi":"3.0.0","components":{"schemas":[]}}', '"components.schemas" is not an object'],
    ['{"openapi":"3.0.0","components":{"responses":{"__proto__":null}}}', '"components.responses.__proto__" is not'],
    ['{"swagger":"1.2"}', 'cannot be converted from OpenAPI v2: swagger is "1.2"'],
    ['{"paths":{"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1"}}}', 'is an API server index of documents'],
    [`{"a":${'['.repeat(300)}${']'.repeat(300)}}`, 'nests deeper than 256 levels'],
    [`a: ${'['.repeat(300)}${']'.repeat(300)}`, 'is not valid YAML: nesting exceeded'],
    [bomb.join('\n'), 'has too many values, or aliases'],
  ])('%#: %.30s', (text, message) => {
    let thrown: unknown;
    try {
      read(text);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(InvalidOpenApi);
    expect((thrown as Error).message).toContain(message);
  });
});

test('rejects bytes that are not UTF-8', () => {
  expect(() => readOpenApi(Buffer.from('openapi: \xff', 'latin1'))).toThrow(InvalidOpenApi);
  expect(() => readOpenApi(Buffer.from('{"openapi": "\xff"}', 'latin1'))).toThrow('is not valid UTF-8');
});

describe('the list of documents', () => {
  test('is sorted by name, with path and hash of each', () => {
    expect(
      documentList({
        paths: {
          'apis/b/v1': { serverRelativeURL: '/openapi/v3/apis/b/v1?hash=AB' },
          'api/v1': { serverRelativeURL: '/openapi/v3/api/v1' },
        },
      }),
    ).toEqual([
      { name: 'api/v1', path: '/openapi/v3/api/v1', hash: undefined },
      { name: 'apis/b/v1', path: '/openapi/v3/apis/b/v1?hash=AB', hash: 'AB' },
    ]);
  });

  test.each([
    'https://elsewhere/openapi/v3/a',
    '//elsewhere/openapi/v3/a',
    '@elsewhere/openapi/v3/a',
    '/openapi/v3/../../api/v1/secrets',
    '/api/v1/secrets',
    '',
    1,
  ])('is not a list if it contains %j', (serverRelativeURL) => {
    expect(documentList({ paths: { a: { serverRelativeURL } } })).toBeUndefined();
  });
});
