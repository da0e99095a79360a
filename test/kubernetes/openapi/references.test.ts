import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { merge } from './merging.ts';

/** What a part of a path becomes in the second of two documents, of which everything has another meaning. */
async function renamed(part: JsonObject): Promise<unknown> {
  const documentOf = (type: string) => ({
    openapi: '3.0.0',
    info: { title: 't', version: '1' },
    paths: { [`/${type}`]: { get: { operationId: 'o' }, 'part-': part } },
    components: {
      schemas: { a: { type }, 'a/b~c%d': { type }, '100%': { type }, '~1': { type } },
      securitySchemes: { a: { type } },
    },
  });
  const { document } = await merge(documentOf('one'), documentOf('two'));
  return (document.paths as Record<string, JsonObject>)['/two']?.['part-'];
}

const at = (rest: string) => ({ $ref: `#/components/schemas/${rest}` });
const [a, a2] = [at('a'), at('a_v2')];

test.each<[string, JsonObject, JsonObject]>([
  ['a reference', a, a2],
  ['a reference to a part', at('a/properties/b'), at('a_v2/properties/b')],
  ['a name with escapes', at('a~1b~0c%25d'), at('a~1b~0c%25d_v2')],
  ['a name with a percent sign', at('100%/~1'), at('100%25_v2/~1')],
  ['a name with a tilde', at('~01'), at('~01_v2')],
  ['no name', at(''), at('')],
  ['another document', { $ref: 'other.json#/components/schemas/a' }, { $ref: 'other.json#/components/schemas/a' }],
  ['a reference in a list', { b: [1, a, null] }, { b: [1, a2, null] }],
  ['a reference that is not a string', { $ref: a }, { $ref: a2 }],
  [
    'data',
    { default: a, enum: [a], example: a, value: a, scopes: a, 'x-a': a },
    { default: a, enum: [a], example: a, value: a, scopes: a, 'x-a': a },
  ],
  [
    'names',
    { properties: { $ref: a, default: a, security: [a] } },
    { properties: { $ref: a2, default: a2, security: [a2] } },
  ],
  ['names that are a list', { parameters: [a] }, { parameters: [a2] }],
  [
    'examples: data, or references to data',
    { examples: { a: { value: a }, b: a, c: 1 } },
    { examples: { a: { value: a }, b: a2, c: 1 } },
  ],
  ['examples of JSON Schema', { examples: [a] }, { examples: [a] }],
  ['security', { security: [{ a: ['s'] }, 1] }, { security: [{ a_v2: ['s'] }, 1] }],
  ['security that is not a list', { security: { a: [] } }, { security: { a: [] } }],
  [
    'a discriminator',
    { discriminator: { propertyName: 'p', mapping: { a: a.$ref, b: 'b', c: 1 } } },
    { discriminator: { propertyName: 'p', mapping: { a: a2.$ref, b: 'b', c: 1 } } },
  ],
  [
    'links',
    { links: { operationId: { operationId: 'o', x: a }, b: { operationId: 1 }, c: 1 } },
    { links: { operationId: { operationId: 'o_v2', x: a2 }, b: { operationId: 1 }, c: 1 } },
  ],
])('references: %s', async (_, part, expected) => {
  expect(await renamed(part)).toEqual(expected);
});

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** What does not mean the same in documents with these schemas. */
async function differing(...schemas: JsonObject[]): Promise<string[]> {
  const { report } = await merge(...schemas.map((one) => ({ paths: {}, components: { schemas: one } })));
  return report.renamed.map(({ newName, documents }) => `${newName} ${documents.join()}`).sort();
}

test('components mean the same if their content does, and that of all they refer to', async () => {
  const one = { A: { items: ref('B'), x: [1, ref('C')] }, B: { a: 1, b: 2 }, C: {}, D: ref('C') };
  const sorted = { D: ref('C'), C: {}, B: { b: 2, a: 1 }, A: { x: [1, ref('C')], items: ref('B') } };
  expect(await differing(one, sorted)).toEqual([]);
  expect(await differing(one, { ...sorted, C: { type: 'string' } })).toEqual(['A_v2 b', 'C_v2 b', 'D_v2 b']);
  // A list is not the same as its items, nor as the same items in another order.
  const lists = [[1, 2], [2, 1], { 0: 1, 1: 2 }].map((x) => ({ A: { x } }));
  expect(await differing(...lists)).toEqual(['A_v2 b', 'A_v3 c']);
  expect(await differing({ A: { x: [{ a: 1, b: 2 }] } }, { A: { x: [{ b: 2, a: 1 }] } })).toEqual([]);
});

test('the order of references does not matter, nor how often they occur; one without a target is another', async () => {
  const one = { B: { type: 'string' }, C: { type: 'integer' }, A: { a: ref('B'), b: ref('C'), c: ref('B') } };
  expect(await differing(one, { C: one.C, A: { c: ref('B'), b: ref('C'), a: ref('B') }, B: one.B })).toEqual([]);
  expect(await differing(one, { ...one, C: { type: 'number' } })).toEqual(['A_v2 b', 'C_v2 b']);
  const missing = { A: ref('Z') };
  expect(await differing(missing, { ...missing, B: {} })).toEqual([]);
  expect(await differing(missing, { ...missing, Z: {} })).toEqual(['A_v2 b']);
  // What only another document refers to does not count.
  const [few, more] = [{ A: { x: 1 } }, { A: { x: 1 }, B: {} }];
  expect(await differing({ A: ref('B') }, few, more)).toEqual(['A_v2 b,c']);
});

test('members of a cycle differ if one does, whatever leads into it and wherever it begins', async () => {
  const X = { type: 'string' };
  const cycle = { B: { n: ref('C') }, C: { n: ref('D') }, D: { n: ref('B'), x: ref('X') }, X };
  const { B, C, D } = cycle;
  expect(await differing({ A: ref('B'), ...cycle }, { X, D, C, B, A: ref('B'), Z: ref('D') })).toEqual([]);
  const all = ['A_v2 b,d', 'B_v2 b,d', 'C_v2 b,d', 'D_v2 b,d', 'X_v2 b,d'];
  const [first, other] = [
    { A: ref('B'), ...cycle },
    { A: ref('B'), ...cycle, X: { type: 'integer' } },
  ];
  expect(await differing(first, other, first, other)).toEqual(all);
  // Two cycles that share a member are one; two that are only joined are not.
  const eight = (end: string) => ({
    A: { a: ref('B') },
    B: { a: ref('A'), c: ref('C') },
    C: { b: ref('B'), d: ref('D') },
    D: { d: ref('D'), end },
  });
  expect(await differing(eight('1'), eight('2'))).toEqual(['A_v2 b', 'B_v2 b', 'C_v2 b', 'D_v2 b']);
  const before = (start: string) => ({ A: { a: ref('A'), b: ref('B'), start }, B: { b: ref('B') } });
  expect(await differing(before('1'), before('2'))).toEqual(['A_v2 b']);
});

test('meanings that differ one after the other are told apart', async () => {
  const chain = (end: string, middle: string) => ({ A: ref('B'), B: { c: ref('C'), middle }, C: ref('D'), D: { end } });
  expect(await differing(chain('1', '1'), chain('1', '2'), chain('2', '1'), chain('2', '2'), chain('1', '1'))).toEqual([
    'A_v2 b',
    'A_v3 c',
    'A_v4 d',
    'B_v2 b',
    'B_v3 c',
    'B_v4 d',
    'C_v2 c,d',
    'D_v2 c,d',
  ]);
});
