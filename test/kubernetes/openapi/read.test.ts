import { describe, expect, test } from 'vitest';
import { documentList, InvalidOpenApi, readOpenApi } from '../../../src/kubernetes/openapi/index.ts';

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

test('of YAML, everything becomes JSON', () => {
  const { document } = read(
    [
      '# a comment',
      'openapi: 3.0.0',
      'paths: {}',
      'x-values: [2026-01-02, true, false, 1.5, ~, text]',
      'x-shared: &s {a: [1]}',
      'x-again: [*s, *s]',
    ].join('\n'),
  );
  expect(document['x-values']).toEqual([expect.stringMatching(/^2026-01-02/), true, false, 1.5, null, 'text']);
  expect(document['x-again']).toEqual([{ a: [1] }, { a: [1] }]);
  expect((document['x-again'] as object[])[0]).not.toBe((document['x-again'] as object[])[1]);
});

test.each(['3.0.0', '3.0.10', '3.0.123456789', '3.0.1-rc.1', '3.0.0-a_b'])('reads OpenAPI %s', (openapi) => {
  expect(read(JSON.stringify({ openapi })).document).toEqual({ openapi });
});

test('YAML nests as deep as JSON, and no deeper', () => {
  const nested = (levels: number) => {
    const lines = ['openapi: 3.0.0', 'x-a:'];
    for (let level = 1; level <= levels; level++) {
      lines.push(`${'  '.repeat(level)}a:`);
    }
    return `${lines.join('\n')} 1\n`;
  };
  expect(() => read(nested(200))).not.toThrow();
  expect(() => read(nested(300))).toThrow(/^(is not valid YAML|nests deeper than 256 levels)/);
  // Aliases nest deeper than the text does.
  const aliases = ['openapi: 3.0.0', 'x-0: &a0 {a: 1}'];
  for (let level = 1; level <= 260; level++) {
    aliases.push(`x-${level}: &a${level} {a: *a${level - 1}}`);
  }
  expect(() => read(aliases.slice(0, 250).join('\n'))).not.toThrow();
  expect(() => read(aliases.join('\n'))).toThrow(/nests deeper than 256 levels/);
});

test('long texts count as often as aliases name them', () => {
  const text = 'x'.repeat(1_000_000);
  const yaml = (count: number) => `openapi: 3.0.0\nx-a: &a ${text}\nx-b: [${Array(count).fill('*a').join()}]\n`;
  expect(() => read(yaml(1))).not.toThrow();
  expect(() => read(yaml(70))).toThrow('too much of the document comes from aliases');
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
    ['', 'is not an OpenAPI document: it is not an object'],
    ['{"openapi": ', 'is not valid JSON'],
    ['a: b: c', 'is not valid YAML: '],
    ['just text', 'is not an OpenAPI document: it is not an object'],
    ['[]', 'is not an OpenAPI document: it is not an object'],
    ['kind: Pod', 'is not an OpenAPI document: it has no "openapi"'],
    ['{"openapi":"3.1.0"}', 'is OpenAPI "3.1.0"; only OpenAPI 3.0 and 2.0 documents can be merged'],
    ['{"openapi":"13.0.0"}', 'is OpenAPI "13.0.0"; only'],
    ['{"openapi":"3.0.1 "}', 'is OpenAPI "3.0.1 "; only'],
    ['{"openapi":"3.0.x"}', 'is OpenAPI "3.0.x"; only'],
    ['{"openapi":"3.0.1-"}', 'is OpenAPI "3.0.1-"; only'],
    ['{"openapi":"3.0.1-a b"}', 'is OpenAPI "3.0.1-a b"; only'],
    ['{"openapi":"3.0.1234567890"}', 'is OpenAPI "3.0.1234567890"; only'],
    ['{"openapi":"a234567890123456789012345"}', 'is OpenAPI "a2345678901234567890"; only'],
    ['{"openapi":3}', 'is not an OpenAPI document: it has no "openapi"'],
    [`{"openapi":"3.0.0","paths":{"/${'x'.repeat(400)}":1}}`, `"paths./${'x'.repeat(293)}" is not an object`],
    [`{"openapi":"3.0.0","paths":{"${'x'.repeat(400)}":{}}}`, `the path "${'x'.repeat(300)}", which`],
    ['{"openapi":"3.0.0","paths":{"a/":{}}}', 'has the path "a/", which must begin with /'],
    ['{"openapi":"3.0.0","components":1}', '"components" is not an object'],
    ['{"openapi":"3.0.0","components":{"schemas":{"A":1}}}', '"components.schemas.A" is not an object'],
    ['{"openapi":"3.0.0","paths":[]}', 'is not an OpenAPI document: "paths" is not an object'],
    ['{"openapi":"3.0.0","info":5}', 'is not an OpenAPI document: "info" is not an object'],
    ['{"openapi":"3.0.0","paths":{"/a":1}}', '"paths./a" is not an object'],
    ['{"openapi":"3.0.0","paths":{"x-a":1,"x\\u001b":{}}}', 'has the path "x\\u001b", which must begin with /'],
    ['{"openapi":"3.0.0","components":{"schemas":[]}}', '"components.schemas" is not an object'],
    ['{"openapi":"3.0.0","components":{"responses":{"__proto__":null}}}', '"components.responses.__proto__" is not'],
    [
      '{"swagger":"1.2"}',
      'cannot be converted from OpenAPI v2: swagger: Unsupported value: "1.2": supported values: "2.0"',
    ],
    ['{"paths":{"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1"}}}', 'is an API server index of documents'],
    [`{"a":${'['.repeat(300)}${']'.repeat(300)}}`, 'nests deeper than 256 levels'],
    [`a: ${'['.repeat(300)}${']'.repeat(300)}`, 'is not valid YAML: line 1: nests deeper than 256 levels'],
    [bomb.join('\n'), 'is not valid YAML: '],
    ['openapi: 3.0.0\nx-a: .inf', 'is not valid YAML: line 2: YAML: .inf is not a JSON number'],
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
  test('is none for a document, or for something else', () => {
    const paths = { a: { serverRelativeURL: '/openapi/v3/a' } };
    expect(documentList({ paths })).toHaveLength(1);
    expect(documentList({ paths, openapi: '3.0.0' })).toBeUndefined();
    expect(documentList({ paths: { ...paths, b: 1 } })).toBeUndefined();
    expect(documentList({ paths: [] })).toBeUndefined();
    expect(documentList([])).toBeUndefined();
    const many = Object.fromEntries(['c', 'a', 'e', 'b', 'd'].map((name) => [name, paths.a]));
    expect(documentList({ paths: many })?.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

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
    'http://[',
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
