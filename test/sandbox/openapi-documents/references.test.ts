import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { componentsOf } from '../../../src/sandbox/openapi-documents/components.ts';
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
const meaningsOf = (schemas: JsonObject, parts: JsonObject = {}) =>
  new Map(
    componentsOf({ components: { schemas, ...parts } }).map(({ section, name, meaning }) => [
      `${section}/${name}`,
      meaning,
    ]),
  );

test('the meaning of a component is its content, and that of all it refers to', () => {
  const one = meaningsOf({
    A: { items: ref('B'), x: [1, ref('C')] },
    B: { a: 1, b: 2 },
    C: {},
    D: ref('C'),
    E: ref('C'),
  });
  const other = meaningsOf({
    D: ref('C'),
    C: { type: 'string' },
    B: { b: 2, a: 1 },
    A: { x: [1, ref('C')], items: ref('B') },
  });
  expect(other.get('schemas/B')).toBe(one.get('schemas/B'));
  for (const name of ['schemas/A', 'schemas/C', 'schemas/D']) {
    expect(one.get(name)).toMatch(/^[\w+/]{43}=$/);
    expect(other.get(name)).not.toBe(one.get(name));
  }
  const inList = (item: JsonObject) => meaningsOf({ A: { x: [item] } }).get('schemas/A');
  expect(inList({ a: 1, b: 2 })).toBe(inList({ b: 2, a: 1 }));
  // A list is not the same as its items, nor as the same items in another order.
  expect(
    new Set([
      ...meaningsOf({ A: { x: [1, 2] } }).values(),
      ...meaningsOf({ A: { x: [2, 1] } }).values(),
      ...meaningsOf({ A: { x: { 0: 1, 1: 2 } } }).values(),
    ]).size,
  ).toBe(3);
  // Names are part of the meaning, since the reference is by name; sections have their own names.
  expect(one.get('schemas/D')).not.toBe(one.get('schemas/E'));
  const sections = meaningsOf({ A: {} }, { responses: { A: {} }, headers: 1 });
  expect([...sections.keys()]).toEqual(['schemas/A', 'responses/A']);
  expect(sections.get('schemas/A')).not.toBe(sections.get('responses/A'));
});

test('the order of references does not matter, nor how often they occur', () => {
  const others = { B: { type: 'string' }, C: { type: 'integer' } };
  const one = meaningsOf({ ...others, A: { a: ref('B'), b: ref('C'), c: ref('B') } });
  const same = meaningsOf({ C: others.C, A: { c: ref('B'), b: ref('C'), a: ref('B') }, B: others.B });
  expect(same.get('schemas/A')).toBe(one.get('schemas/A'));
  const changed = meaningsOf({ ...others, C: { type: 'number' }, A: { a: ref('B'), b: ref('C'), c: ref('B') } });
  expect(changed.get('schemas/A')).not.toBe(one.get('schemas/A'));
  // A missing one is the same in both.
  const missing = meaningsOf({ A: { a: ref('Z') } });
  expect(missing.get('schemas/A')).toBe(meaningsOf({ A: { a: ref('Z') }, B: {} }).get('schemas/A'));
});

test('references in another order of keys mean the same', () => {
  const of = (schemas: JsonObject) => meaningsOf({ B: { type: 'string' }, C: { type: 'integer' }, ...schemas });
  const [one, other] = [of({ A: { a: ref('B'), b: ref('C') } }), of({ A: { b: ref('C'), a: ref('B') } })];
  expect(other.get('schemas/A')).toBe(one.get('schemas/A'));
});

test('members of a cycle have a meaning each, whatever leads into it and wherever it begins', () => {
  const cycle = (type: string) => ({
    B: { n: ref('C') },
    C: { n: ref('D') },
    D: { n: ref('B'), x: ref('X') },
    X: { type },
  });
  const one = meaningsOf({ A: ref('B'), ...cycle('string') });
  const [, ...members] = ['A', 'B', 'C', 'D'].map((name) => one.get(`schemas/${name}`));
  expect(new Set(members).size).toBe(3);
  const { X, D, C, B } = cycle('string');
  const turned = meaningsOf({ X, D, C, B, A: ref('B'), Z: ref('D') });
  const otherwise = meaningsOf({ A: ref('B'), ...cycle('integer') });
  for (const name of ['A', 'B', 'C', 'D', 'X']) {
    expect(turned.get(`schemas/${name}`)).toBe(one.get(`schemas/${name}`));
    expect(otherwise.get(`schemas/${name}`)).not.toBe(one.get(`schemas/${name}`));
  }
  // Two cycles that share a member are one; two that are only joined are not.
  const eight = (end: string) =>
    meaningsOf({
      A: { a: ref('B') },
      B: { a: ref('A'), c: ref('C') },
      C: { b: ref('B'), d: ref('D') },
      D: { d: ref('D'), end },
    });
  const joined = [eight('1'), eight('2')];
  for (const name of ['A', 'B', 'C', 'D']) {
    expect(joined[0]?.get(`schemas/${name}`)).not.toBe(joined[1]?.get(`schemas/${name}`));
  }
  const before = (start: string) => meaningsOf({ A: { a: ref('A'), b: ref('B'), start }, B: { b: ref('B') } });
  expect(before('1').get('schemas/B')).toBe(before('2').get('schemas/B'));
  expect(before('1').get('schemas/A')).not.toBe(before('2').get('schemas/A'));
});

test('long chains of references need no stack', () => {
  const schemas: JsonObject = {};
  for (let index = 0; index < 12_000; index++) {
    schemas[`S${index}`] = ref(`S${index + 1}`);
  }
  expect(meaningsOf(schemas).size).toBe(12_000);
});
