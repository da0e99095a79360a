import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
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
      dangling: [],
    },
  });
  const { document, report } = await merge(documentOf({}), documentOf({ components: {} }));
  expect(Object.keys(document)).toEqual(['openapi', 'info', 'paths']);
  expect(report.documents).toBe(2);
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
