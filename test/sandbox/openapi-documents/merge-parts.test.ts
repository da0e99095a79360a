import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { merge } from './merging.ts';

const documentOf = (parts: JsonObject): JsonObject => ({
  openapi: '3.0.1',
  info: { title: 't', version: '1' },
  ...parts,
});

const schema = (name: string) => ({ $ref: `#/components/schemas/${name}` });

test('nothing, and documents with nothing in them', async () => {
  expect(await merge()).toEqual({
    document: { openapi: '3.0.0', info: { title: 'nothing', version: '0' }, paths: {} },
    report: {
      documents: 0,
      paths: 0,
      componentsBefore: 0,
      componentsAfter: 0,
      renamed: [],
      conflicts: [],
      corrected: [],
      dangling: [],
    },
  });
  const { document, report } = await merge(documentOf({}), documentOf({ components: {}, tags: [] }));
  expect(Object.keys(document)).toEqual(['openapi', 'info', 'paths']);
  expect(report.documents).toBe(2);
});

test('tags: the first of a name counts, and what is none is left out', async () => {
  const { document } = await merge(
    documentOf({ tags: [{ name: 'a', description: '1' }, 1, { description: 'no name' }, { name: 2 }] }),
    documentOf({ tags: [{ name: 'b' }, { name: 'a', description: '2' }] }),
    documentOf({ tags: { name: 'c' } }),
  );
  expect(document.tags).toEqual([{ name: 'a', description: '1' }, { name: 'b' }]);
});

test('external documentation is that of the first document', async () => {
  const externalDocs = { url: 'https://a' };
  expect((await merge(documentOf({ externalDocs }), documentOf({ externalDocs }))).document).toMatchObject({
    externalDocs,
  });
});

test('components: sorted by name within their sections, which have the order of the specification', async () => {
  const { document, report } = await merge(
    documentOf({ components: { headers: { H: {} }, schemas: { C: { type: 'string' }, A: {} } } }),
    documentOf({
      components: { schemas: { B: {}, C: { type: 'integer' } }, responses: { R: {} }, unknown: { U: {} } },
    }),
  );
  expect(JSON.stringify(document.components)).toBe(
    '{"schemas":{"A":{},"B":{},"C":{"type":"string"},"C_v2":{"type":"integer"}},"responses":{"R":{}},"headers":{"H":{}}}',
  );
  expect([report.componentsBefore, report.componentsAfter]).toEqual([6, 6]);
});

test('paths: sorted; extensions among them are left out', async () => {
  const { document, report } = await merge(
    documentOf({ paths: { '/c': {}, 'x-a': {}, '/a': { get: { summary: 'a' } } } }),
    documentOf({ paths: { '/b': {} } }),
    documentOf({ paths: 1 }),
  );
  expect(JSON.stringify(document.paths)).toBe('{"/a":{"get":{"summary":"a"}},"/b":{},"/c":{}}');
  expect(report.paths).toBe(3);
});

test('operations of one path come from several documents; each that differs is a conflict', async () => {
  const { document, report } = await merge(
    documentOf({ paths: { '/a': { summary: 's', get: { summary: '1' } } } }),
    documentOf({ paths: { '/a': { summary: 's', get: { summary: '2' }, put: { summary: '2' }, 'x-a': 1 } } }),
    documentOf({ paths: { '/a': { summary: 's', get: { summary: '1' }, put: { summary: '2' }, 'x-a': 2 } } }),
    documentOf({ paths: { '/a': { summary: 's', get: { summary: '4' } } } }),
    documentOf({ paths: { '/a': { summary: 'other', get: { summary: '1' }, post: { summary: '5' } } } }),
  );
  expect(document.paths).toEqual({
    '/a': { summary: 's', get: { summary: '1' }, put: { summary: '2' }, 'x-a': 1 },
  });
  expect(report.conflicts).toEqual([
    { place: 'paths./a get', kept: 'a', leftOut: ['b', 'd'] },
    { place: 'paths./a x-a', kept: 'b', leftOut: ['c'] },
    { place: 'paths./a summary', kept: 'a', leftOut: ['e'] },
    { place: 'paths./a post', kept: 'a', leftOut: ['e'] },
  ]);
});

test('of security and servers, those of the first document stay, and others are conflicts', async () => {
  const [servers, security] = [[{ url: 'https://a' }], [{ key: [] }]];
  const paths = { '/a': { get: {}, put: { security: [] } }, 'x-c': 1 };
  const { document, report } = await merge(
    documentOf({ servers, security, paths }),
    documentOf({ security, paths: { '/d': { get: {} } } }),
  );
  expect(document).toMatchObject({ security, servers });
  expect(document.paths).toEqual({ '/a': paths['/a'], '/d': { get: {} } });
  expect(report.conflicts).toEqual([{ place: 'servers', kept: 'a', leftOut: ['b'] }]);
});

test('references: corrected, dangling, and each reported once', async () => {
  const items = (reference: Json) => ({ allOf: [{ $ref: reference }] });
  const { document, report } = await merge(
    documentOf({
      components: {
        schemas: {
          A: items('#/definitions/B'),
          B: items('#/definitions/B'),
          C: items('#/definitions/Z'),
          D: items('#/components/schemas/Y'),
          E: items('#/components/schemas/Y'),
          F: items('#/components/responses/B'),
          G: items('other.json'),
        },
      },
    }),
    documentOf({ components: 1, paths: { '/a': { $ref: '#/components/pathItems/P' } } }),
  );
  expect(report.corrected).toEqual([{ document: 'a', reference: '#/definitions/B' }]);
  expect(report.dangling).toEqual([
    { document: 'a', reference: '#/definitions/Z' },
    { document: 'a', reference: '#/components/schemas/Y' },
    { document: 'a', reference: '#/components/responses/B' },
    { document: 'b', reference: '#/components/pathItems/P' },
  ]);
  expect(document).toMatchObject({ components: { schemas: { A: items('#/components/schemas/B') } } });
});

test('ids of operations are unique in paths, and links follow them', async () => {
  const document = (path: string) =>
    documentOf({
      paths: {
        [path]: {
          summary: 's',
          get: {
            operationId: 'get',
            responses: { 200: { links: { l: { operationId: 'get' }, m: { operationId: 'elsewhere' } } } },
          },
          put: 1,
          trace: { operationId: 1 },
        },
      },
      components: { links: { N: { operationId: 'shared' } } },
    });
  const merged = await merge(document('/a'), document('/b'));
  const item = (suffix: string) => ({
    summary: 's',
    get: {
      operationId: `get${suffix}`,
      responses: { 200: { links: { l: { operationId: `get${suffix}` }, m: { operationId: 'elsewhere' } } } },
    },
    put: 1,
    trace: { operationId: 1 },
  });
  expect(merged.document.paths).toEqual({ '/a': item(''), '/b': item('_v2') });
  expect(merged.report.renamed.map(({ name, newName }) => `${name} ${newName}`)).toEqual(['get get_v2']);
});

test('a reference to a part of a renamed component, and security schemes with another meaning', async () => {
  const one = (type: string) =>
    documentOf({
      security: [{ S: [] }],
      paths: {
        [`/${type}`]: {
          get: { security: [{ S: [] }], x: { $ref: '#/components/schemas/A/properties/b' }, y: schema('Z') },
        },
      },
      components: { schemas: { A: { properties: { b: { type } } } }, securitySchemes: { S: { type } } },
    });
  const { document } = await merge(one('a'), one('b'));
  expect(document.security).toEqual([{ S: [] }]);
  expect(document.paths).toEqual({
    '/a': { get: { security: [{ S: [] }], x: { $ref: '#/components/schemas/A/properties/b' }, y: schema('Z') } },
    '/b': { get: { security: [{ S_v2: [] }], x: { $ref: '#/components/schemas/A_v2/properties/b' }, y: schema('Z') } },
  });
});

const operation = (description: string) => ({ description, responses: {} });

test('a conflict names the document whose operation was kept, which need not be the first of the path', async () => {
  const { report } = await merge(
    documentOf({ paths: { '/a': { get: operation('1') } } }),
    documentOf({ paths: { '/a': { post: operation('2') } } }),
    documentOf({ paths: { '/a': { get: operation('3'), post: operation('3') } } }),
  );
  expect(report.conflicts).toEqual([
    { place: 'paths./a get', kept: 'a', leftOut: ['c'] },
    { place: 'paths./a post', kept: 'b', leftOut: ['c'] },
  ]);
});

test('the same operation, security and servers with keys in another order are no conflict', async () => {
  const { document, report } = await merge(
    documentOf({
      paths: { '/a': { get: { description: 'd', responses: { 200: { description: 'x', content: {} } } } } },
      servers: [{ url: '/a', description: 'a' }],
    }),
    documentOf({
      paths: { '/a': { get: { responses: { 200: { content: {}, description: 'x' } }, description: 'd' } } },
      servers: [{ description: 'a', url: '/a' }],
    }),
  );
  expect(report.conflicts).toEqual([]);
  expect(document.servers).toEqual([{ url: '/a', description: 'a' }]);
});
