import { compileErrors, validate } from '@readme/openapi-parser';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { type Merged, mergeDocuments } from '../../../src/sandbox/openapi-documents/index.ts';
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
      discriminator: { propertyName: 'p', mapping: { a: '#/components/schemas/A', b: 'A' } },
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
    discriminator: {
      propertyName: 'p',
      mapping: { a: '#/components/schemas/A_v2', b: '#/components/schemas/A_v2' },
    },
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

  test('tags are merged by name, info is that of the first document', async () => {
    const { document } = await merge(
      documentOf({}, { tags: [{ name: 'x', description: 'first' }], info: { title: 'one', version: '1' } }),
      documentOf(
        {},
        { tags: [{ name: 'x', description: 'second' }, { name: 'y' }], info: { title: 'two', version: '2' } },
      ),
    );
    expect(document.tags).toEqual([{ name: 'x', description: 'first' }, { name: 'y' }]);
    expect(document.info).toEqual({ title: 'one', version: '1' });
  });
});

describe('a path in two documents', () => {
  const at = (item: Json) => documentOf({}, { paths: { '/a': item } });

  test('is not a conflict if both are equal', async () => {
    const { report } = await merge(at({ get: { operationId: 'x' } }), at({ get: { operationId: 'x' } }));
    expect(report.conflicts).toEqual([]);
  });

  test('has the methods of both', async () => {
    const merged = await merge(
      at({ get: { summary: 'g' } }),
      at({ put: { summary: 'p' } }),
      at({ get: { summary: 'g' } }),
    );
    expect(merged.document.paths).toEqual({ '/a': { get: { summary: 'g' }, put: { summary: 'p' } } });
    expect(merged.report.conflicts).toEqual([]);
  });

  test('is reported if they differ, and the first one wins', async () => {
    const merged = await merge(
      at({ get: { summary: '1' } }),
      at({ get: { summary: '2' } }),
      at({ get: { summary: '3' } }),
    );
    expect(merged.document.paths).toEqual({ '/a': { get: { summary: '1' } } });
    expect(merged.report.conflicts).toEqual([{ place: 'paths./a get', kept: 'a', leftOut: ['b', 'c'] }]);
  });

  test('does not combine methods with the parameters of another document', async () => {
    const parameters = [{ name: 'p', in: 'query', schema: {} }];
    const merged = await merge(at({ get: {} }), at({ put: {}, parameters }));
    expect(merged.document.paths).toEqual({ '/a': { get: {} } });
    expect(merged.report.conflicts.map(({ place }) => place)).toEqual(['paths./a parameters', 'paths./a put']);
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

test('ids of operations become unique within a document, too, and its links mean the first', async () => {
  const links = { L: { operationId: 'list' } };
  const operation = () => ({ operationId: 'list', responses: { 200: { description: '', links } } });
  const merged = await merge(documentOf({}, { paths: { '/a': { get: operation(), put: operation() } } }));
  const put = { ...operation(), operationId: 'list_v2' };
  expect(merged.document.paths).toEqual({ '/a': { get: operation(), put } });
  expect(renamedOf(merged)).toEqual(['operationId list list_v2 a']);
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

test('the id of a dropped operation is not reported; links to it lead to the one that replaces it', async () => {
  const operation = (operationId: string, linked: string) => ({
    get: { operationId, responses: { 200: { description: '', links: { L: { operationId: linked } } } } },
  });
  const merged = await merge(
    documentOf({}, { paths: { '/a': operation('one', 'one') } }),
    documentOf({}, { paths: { '/a': operation('two', 'two'), '/b': operation('three', 'two') } }),
    documentOf({}, { paths: { '/a': { parameters: [], put: { operationId: 'one' } } } }),
  );
  expect(merged.document.paths).toEqual({ '/a': operation('one', 'one'), '/b': operation('three', 'one') });
  expect(renamedOf(merged)).toEqual([]);
  // Operations that differ in nothing but their ids are the same.
  expect(merged.report.conflicts.map(({ place }) => place)).toEqual(['paths./a parameters', 'paths./a put']);
});

test('references of OpenAPI v2 are corrected if possible, others without a target are reported', async () => {
  const merged = await merge(
    documentOf({
      A: { allOf: [{ $ref: '#/definitions/B' }, { $ref: '#/definitions/B' }, { $ref: '#/definitions/C' }, ref('D')] },
      B: { type: 'string' },
    }),
  );
  expect(schemasOf(merged).A).toEqual({ allOf: [ref('B'), ref('B'), { $ref: '#/definitions/C' }, ref('D')] });
  expect(merged.report.corrected).toEqual([{ document: 'a', reference: '#/definitions/B' }]);
  expect(merged.report.dangling.map(({ reference }) => reference)).toEqual([
    '#/definitions/C',
    '#/components/schemas/D',
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
    await expectLinear(3000, (size) => mergeDocuments(two(size)));
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

  test('for one path with many fields in many documents', async () => {
    const fields = Object.fromEntries(Array.from({ length: 4000 }, (_, index) => [`x-${index}`, index]));
    const documents = Array.from({ length: 4000 }, (_, index) => ({
      name: String(index),
      document: documentOf({}, { paths: { '/a': index === 0 ? fields : { 'x-1': 1 } } }),
    }));
    using _work = limitWork(2_000);
    expect((await mergeDocuments(documents)).report.conflicts).toHaveLength(0);
  });
});

test('extensions of a path that only one document has are merged, and those that differ are conflicts', async () => {
  const get = { responses: {} };
  const { document, report } = await mergeDocuments([
    { name: 'a', document: documentOf({}, { paths: { '/a': { 'x-a': 1, 'x-b': 1 } } }) },
    { name: 'b', document: documentOf({}, { paths: { '/a': { get, 'x-b': 2, 'x-c': 3 } } }) },
  ]);
  expect(document.paths).toEqual({ '/a': { 'x-a': 1, 'x-b': 1, 'x-c': 3, get } });
  expect(report.conflicts).toEqual([{ place: 'paths./a x-b', kept: 'a', leftOut: ['b'] }]);
});
