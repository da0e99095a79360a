import { compileErrors, validate } from '@readme/openapi-parser';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { type Merged, mergeDocuments } from '../../../src/kubernetes/openapi/index.ts';
import { expectLinear, limitWork } from '../../support/work.ts';
import { merge } from './merging.ts';

type Schemas = Record<string, JsonObject>;

function documentOf(schemas: Schemas, parts: JsonObject = {}): JsonObject {
  return { openapi: '3.0.0', info: { title: 't', version: '1' }, paths: {}, components: { schemas }, ...parts };
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const schemasOf = ({ document }: Merged) => (document.components as { schemas: Schemas }).schemas;
const renamedOf = ({ report }: Merged) =>
  report.renamed.map(({ section, name, newName, documents }) => `${section} ${name} ${newName} ${documents.join()}`);

describe('schemas with the same name', () => {
  test('that are equal become one, whatever the order of their keys', async () => {
    const merged = await merge(
      documentOf({ A: { type: 'object', properties: { a: { type: 'string' }, b: ref('A') } } }),
      documentOf({ A: { properties: { b: ref('A'), a: { type: 'string' } }, type: 'object' } }),
    );
    expect(Object.keys(schemasOf(merged))).toEqual(['A']);
    expect(merged.report).toMatchObject({ componentsBefore: 2, componentsAfter: 1, renamed: [] });
  });

  test('that differ are renamed, together with references to them', async () => {
    const paths = (path: string) => ({
      paths: { [path]: { get: { responses: { 200: { description: '', content: { j: { schema: ref('A') } } } } } } },
    });
    const merged = await merge(
      documentOf({ A: { type: 'string' } }, paths('/a')),
      documentOf({ A: { type: 'integer' } }, paths('/b')),
      documentOf({ A: { type: 'integer' } }, paths('/c')),
      documentOf({ A: { type: 'boolean' } }, paths('/d')),
    );
    expect(schemasOf(merged)).toEqual({ A: { type: 'string' }, A_v2: { type: 'integer' }, A_v3: { type: 'boolean' } });
    expect(renamedOf(merged)).toEqual(['schemas A A_v2 b,c', 'schemas A A_v3 d']);
    const references = [...JSON.stringify(merged.document.paths).matchAll(/schemas\/(\w+)/g)].map(([, name]) => name);
    expect(references).toEqual(['A', 'A_v2', 'A_v2', 'A_v3']);
  });

  test('also differ if only what they refer to does', async () => {
    const chain = (type: string) =>
      documentOf({ A: { properties: { b: ref('B') } }, B: { items: ref('C') }, C: { type }, D: { type: 'object' } });
    const merged = await merge(chain('string'), chain('integer'));
    expect(schemasOf(merged)).toEqual({
      A: { properties: { b: ref('B') } },
      A_v2: { properties: { b: ref('B_v2') } },
      B: { items: ref('C') },
      B_v2: { items: ref('C_v2') },
      C: { type: 'string' },
      C_v2: { type: 'integer' },
      D: { type: 'object' },
    });
  });

  test('that refer to each other in a cycle are equal, or not, as a whole', async () => {
    const circle = (type: string) =>
      documentOf({ A: { not: ref('B') }, B: { not: ref('C') }, C: { anyOf: [ref('A'), ref('X')] }, X: { type } });
    expect((await merge(circle('string'), circle('string'))).report.componentsAfter).toBe(4);
    const merged = await merge(circle('string'), circle('integer'));
    expect(schemasOf(merged)).toMatchObject({
      A_v2: { not: ref('B_v2') },
      B_v2: { not: ref('C_v2') },
      C_v2: { anyOf: [ref('A_v2'), ref('X_v2')] },
    });
  });

  test('get names that are in no document', async () => {
    const merged = await merge(
      documentOf({ A: { type: 'string' }, A_v2: { type: 'number' } }),
      documentOf({ A: { type: 'integer' }, A_v3: {} }),
    );
    expect(renamedOf(merged)).toEqual(['schemas A A_v4 b']);
  });

  test("may have the name of an object's built-in property", async () => {
    const named = (type: string) => documentOf(JSON.parse(`{"__proto__":{"type":"${type}"},"constructor":{}}`));
    const merged = await merge(named('string'), named('integer'));
    expect(Object.keys(schemasOf(merged))).toEqual(['__proto__', '__proto___v2', 'constructor']);
  });

  test('may have characters in their names that references escape', async () => {
    const odd = (type: string) => documentOf({ 'a/b~c%d': { type }, R: { $ref: '#/components/schemas/a~1b~0c%25d' } });
    const merged = await merge(odd('string'), odd('integer'));
    expect(schemasOf(merged).R_v2).toEqual({ $ref: '#/components/schemas/a~1b~0c%25d_v2' });
  });
});

test('text that only looks like a reference is unchanged', async () => {
  const data = { $ref: '#/components/schemas/A' };
  const schemas = (type: string) => ({
    A: { type },
    B: {
      default: data,
      enum: [data],
      example: data,
      'x-a': data,
      properties: {
        $ref: { type: 'string' },
        default: ref('A'),
        enum: ref('A'),
        'x-b': ref('A'),
        properties: ref('A'),
      },
      discriminator: { propertyName: 'p', mapping: { a: '#/components/schemas/A' } },
    },
  });
  const { B_v2 } = schemasOf(await merge(documentOf(schemas('string')), documentOf(schemas('integer'))));
  const renamed = ref('A_v2');
  expect(B_v2).toEqual({
    default: data,
    enum: [data],
    example: data,
    'x-a': data,
    properties: { $ref: { type: 'string' }, default: renamed, enum: renamed, 'x-b': renamed, properties: renamed },
    discriminator: { propertyName: 'p', mapping: { a: '#/components/schemas/A_v2' } },
  });
});

test('all kinds of components are merged', async () => {
  const components = (name: string): JsonObject => ({
    responses: { r: { description: name } },
    parameters: { p: { name, in: 'query', schema: { type: 'string' } } },
    requestBodies: { b: { content: { j: { schema: ref('S') } } } },
    headers: { h: { schema: { type: 'string' } } },
    schemas: { S: { type: 'string', title: name } },
  });
  const paths = (path: string): JsonObject => ({
    [path]: {
      parameters: [{ $ref: '#/components/parameters/p' }],
      post: {
        requestBody: { $ref: '#/components/requestBodies/b' },
        responses: { default: { $ref: '#/components/responses/r' } },
      },
    },
  });
  const merged = await merge(
    documentOf({}, { components: components('one'), paths: paths('/a') }),
    documentOf({}, { components: components('two'), paths: paths('/b') }),
  );
  expect(renamedOf(merged).sort()).toEqual([
    'parameters p p_v2 b',
    'requestBodies b b_v2 b',
    'responses r r_v2 b',
    'schemas S S_v2 b',
  ]);
  expect((merged.document.paths as JsonObject)['/b']).toEqual({
    parameters: [{ $ref: '#/components/parameters/p_v2' }],
    post: {
      requestBody: { $ref: '#/components/requestBodies/b_v2' },
      responses: { default: { $ref: '#/components/responses/r_v2' } },
    },
  });
});

describe('fields that apply to a whole document', () => {
  const secured = (path: string, scheme: JsonObject, parts: JsonObject = {}) =>
    documentOf(
      {},
      {
        components: { securitySchemes: { token: scheme } },
        security: [{ token: [] }],
        paths: { [path]: { get: { responses: {} }, put: { security: [], responses: {} } } },
        ...parts,
      },
    );
  const bearer = { type: 'http', scheme: 'bearer' };

  test('stay there if all documents agree', async () => {
    const { document } = await merge(secured('/a', bearer), secured('/b', bearer));
    expect(document.security).toEqual([{ token: [] }]);
    expect((document.paths as JsonObject)['/a']).toEqual({
      get: { responses: {} },
      put: { security: [], responses: {} },
    });
  });

  test('info is that of the first document', async () => {
    const { document } = await merge(
      documentOf({}, { info: { title: 'one', version: '1' } }),
      documentOf({}, { info: { title: 'two', version: '2' } }),
    );
    expect(document.info).toEqual({ title: 'one', version: '1' });
  });
});

describe('a path in two documents', () => {
  const at = (item: Json) => documentOf({}, { paths: { '/a': item } });

  test('is not a conflict if both are equal', async () => {
    const { report } = await merge(at({ get: { operationId: 'x' } }), at({ get: { operationId: 'x' } }));
    expect(report.conflicts).toEqual([]);
  });

  test('is reported if they differ, and the first one wins', async () => {
    const merged = await merge(
      at({ get: { summary: '1' } }),
      at({ get: { summary: '2' } }),
      at({ get: { summary: '3' } }),
    );
    expect(merged.document.paths).toEqual({ '/a': { get: { summary: '1' } } });
    expect(merged.report.conflicts).toEqual([{ place: 'paths./a', kept: 'a', leftOut: ['b', 'c'] }]);
  });
});

test('operations get unique ids', async () => {
  const operation = { operationId: 'list', responses: {} };
  const merged = await merge(
    documentOf({}, { paths: { '/a': { get: operation, put: { operationId: 'list_v2' } } } }),
    documentOf({}, { paths: { '/b': { get: operation } } }),
  );
  expect(merged.document.paths).toEqual({
    '/a': { get: operation, put: { operationId: 'list_v2' } },
    '/b': { get: { ...operation, operationId: 'list_v3' } },
  });
  expect(renamedOf(merged)).toEqual(['operationId list list_v3 b']);
});

test('links follow operations whose ids change, wherever they are', async () => {
  const next = (operationId: string) => ({ Next: { operationId, description: 'd' } });
  const properties = { links: { properties: { operationId: { type: 'string' } }, example: next('list') } };
  const answering = (links: JsonObject) => ({ description: '', links });
  const one = (path: string) => ({
    openapi: '3.0.0',
    info: { title: 't', version: '1' },
    paths: {
      [path]: {
        get: {
          operationId: 'list',
          responses: { 200: answering({ ...next('list'), Other: { operationId: 'other' } }) },
        },
      },
    },
    components: {
      schemas: { S: { properties } },
      links: next('list'),
      responses: { R: answering({ Here: { $ref: '#/components/links/Next' } }), Q: answering({}) },
    },
  });
  const { document, report } = await merge(one('/a'), one('/b'), one('/a'));
  const linksOf = (path: string) =>
    (document.paths as Record<string, { get: { responses: { 200: JsonObject } } }>)[path]?.get.responses[200].links;
  expect(linksOf('/a')).toEqual({ ...next('list'), Other: { operationId: 'other' } });
  expect(linksOf('/b')).toEqual({ ...next('list_v2'), Other: { operationId: 'other' } });
  expect(document.components).toEqual({
    // Properties and examples are not links.
    schemas: { S: { properties } },
    // The same text, but of another operation.
    links: { Next: next('list').Next, Next_v2: next('list_v2').Next },
    responses: {
      Q: answering({}),
      R: answering({ Here: { $ref: '#/components/links/Next' } }),
      R_v2: answering({ Here: { $ref: '#/components/links/Next_v2' } }),
    },
  });
  expect(report.conflicts).toEqual([]);
});

test('references of OpenAPI v2 are corrected; each without a target is reported once', async () => {
  const merged = await merge(
    documentOf({
      A: {
        allOf: [{ $ref: '#/definitions/B' }, { $ref: '#/definitions/C' }, ref('C'), ref('D'), { $ref: 'other.json' }],
      },
      B: { type: 'string' },
    }),
    documentOf({ B: { type: 'string' } }, { paths: { '/a': { get: { security: [{ E: [] }] } } } }),
  );
  expect(schemasOf(merged).A).toEqual({ allOf: [ref('B'), ref('C'), ref('C'), ref('D'), { $ref: 'other.json' }] });
  expect(merged.report.dangling).toEqual([
    { document: 'a', reference: 'schemas/C' },
    { document: 'a', reference: 'schemas/D' },
    { document: 'b', reference: 'securitySchemes/E' },
  ]);
});

test('the inputs are not modified, and the result is valid', async () => {
  const paths = (path: string) => ({
    paths: {
      [path]: {
        get: { operationId: 'x', responses: { 200: { description: '', content: { j: { schema: ref('A') } } } } },
      },
    },
  });
  const documents = [
    documentOf({ A: { type: 'string' } }, paths('/a')),
    documentOf({ A: { type: 'number' } }, paths('/b')),
  ];
  const named = documents.map((document, index) => ({ name: String(index), document }));
  const before = structuredClone(named);
  const { document } = await mergeDocuments(named);
  expect(named).toEqual(before);
  const result = await validate(structuredClone(document) as never);
  expect(result.valid ? [] : compileErrors(result)).toEqual([]);
});

test('a merge can be aborted', async () => {
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(mergeDocuments([{ name: 'a', document: documentOf({}) }], signal)).rejects.toThrow('enough');
});

describe('the work is linear in the documents', () => {
  test('for long chains of references that differ at their end', async () => {
    const chain = (size: number, type: string) => {
      const schemas: Schemas = {};
      for (let index = 0; index < size; index++) {
        schemas[`S${index}`] = index === size - 1 ? { type } : { not: ref(`S${index + 1}`) };
      }
      return documentOf(schemas);
    };
    const two = (size: number) => [
      { name: 'a', document: chain(size, 'string') },
      { name: 'b', document: chain(size, 'integer') },
    ];
    const { report } = await mergeDocuments(two(250));
    expect(report.renamed.length).toBe(250);
    // A recursion for each reference would need more stack than there is.
    await expectLinear(12_000, (size) => mergeDocuments(two(size)));
  });

  test('for one path in many documents', async () => {
    const large = { get: { description: 'x'.repeat(2_000_000) } };
    const many = Array.from({ length: 1000 }, (_, index) => ({
      name: String(index),
      document: documentOf({}, { paths: { '/a': index === 0 ? large : { get: {} } } }),
    }));
    using _work = limitWork(2_000);
    expect((await mergeDocuments(many)).report.conflicts).toHaveLength(1);
  });
});
