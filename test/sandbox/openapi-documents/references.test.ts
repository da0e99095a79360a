import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { componentsOf } from '../../../src/sandbox/openapi-documents/components.ts';
import {
  type ComponentReference,
  formatReference,
  parseReference,
  visitReferences,
  visitValues,
} from '../../../src/sandbox/openapi-documents/references.ts';

const schema = (name: string, rest = ''): ComponentReference => ({ section: 'schemas', name, rest });

test.each<[string, ComponentReference | undefined]>([
  ['#/components/schemas/A', schema('A')],
  ['#/components/schemas/A/properties/b', schema('A', '/properties/b')],
  ['#/components/schemas/a~1b~0c%25d', schema('a/b~c%d')],
  ['#/components/schemas/100%', schema('100%')],
  ['#/components/schemas/100%/~1', schema('100%', '/~1')],
  ['#/components/schemas/~01', schema('~1')],
  ['#/components/schemas/', undefined],
  ['#/components/schemas', undefined],
  ['#/components/', undefined],
  ['#/definitions/A', undefined],
  ['other.json#/components/schemas/A', undefined],
])('%s', (text, expected) => {
  const parsed = parseReference(text);
  expect(parsed).toEqual(expected);
  if (parsed !== undefined && !text.includes('100%')) {
    expect(formatReference(parsed)).toBe(text);
  }
});

const marked = {
  reference: (text: string) => `${text}!`,
  securityScheme: (name: string) => `${name}?`,
  operation: (id: string) => `${id};`,
  link: (id: string) => (id === 'same' ? id : `${id}.`),
};
const visit = (part: Json) => visitReferences(part, marked);

test.each<[string, Json, Json]>([
  ['a reference', { $ref: 'a' }, { $ref: 'a!' }],
  ['a reference in a list', [1, { $ref: 'a' }, null], [1, { $ref: 'a!' }, null]],
  ['a reference that is not a string', { $ref: { $ref: 'a' } }, { $ref: { $ref: 'a!' } }],
  ['a text elsewhere', { ref: 'a', b: null, c: 1 }, { ref: 'a', b: null, c: 1 }],
  [
    'data',
    {
      default: { $ref: 'a' },
      enum: [{ $ref: 'a' }],
      example: { $ref: 'a' },
      value: { $ref: 'a' },
      scopes: { $ref: 'a' },
    },
    {
      default: { $ref: 'a' },
      enum: [{ $ref: 'a' }],
      example: { $ref: 'a' },
      value: { $ref: 'a' },
      scopes: { $ref: 'a' },
    },
  ],
  ['an extension', { 'x-a': { $ref: 'a' } }, { 'x-a': { $ref: 'a' } }],
  [
    'names',
    { properties: { $ref: { $ref: 'a' }, default: { $ref: 'b' } } },
    { properties: { $ref: { $ref: 'a!' }, default: { $ref: 'b!' } } },
  ],
  ['names that are a list', { parameters: [{ $ref: 'a' }] }, { parameters: [{ $ref: 'a!' }] }],
  [
    'examples: data, or references to data',
    { examples: { a: { value: { $ref: 'a' } }, b: { $ref: 'b' }, c: 1 } },
    { examples: { a: { value: { $ref: 'a' } }, b: { $ref: 'b!' }, c: 1 } },
  ],
  ['examples of JSON Schema', { examples: [{ $ref: 'a' }] }, { examples: [{ $ref: 'a' }] }],
  ['security', { security: [{ a: ['s'], b: [] }, 1] }, { security: [{ 'a?': ['s'], 'b?': [] }, 1] }],
  ['security that is not a list', { security: { a: [] } }, { security: { a: [] } }],
  [
    'a discriminator: names and references',
    { discriminator: { propertyName: 'p', mapping: { a: 'A-1.b_c', b: '#/x', c: 'a b', d: 1 } } },
    {
      discriminator: {
        propertyName: 'p',
        mapping: { a: '#/components/schemas/A-1.b_c!', b: '#/x!', c: 'a b!', d: 1 },
      },
    },
  ],
  ['a discriminator without a mapping', { discriminator: { mapping: 1 } }, { discriminator: { mapping: 1 } }],
  [
    'a discriminator that is a list',
    { discriminator: [{ mapping: { a: 'A' } }] },
    { discriminator: [{ mapping: { a: 'A' } }] },
  ],
  [
    'links',
    { links: { a: { operationId: 'o', x: { $ref: 'a' } }, b: { operationId: 1 }, c: 1, d: { $ref: 'd' } } },
    { links: { a: { operationId: 'o.', x: { $ref: 'a!' } }, b: { operationId: 1 }, c: 1, d: { $ref: 'd!' } } },
  ],
  [
    'operations: in paths and callbacks',
    {
      paths: {
        '/a': { get: { operationId: 'o', callbacks: { operationId: { $url: { post: { operationId: 'p' } } } } } },
      },
      operationId: 1,
    },
    {
      paths: {
        '/a': { get: { operationId: 'o;', callbacks: { operationId: { $url: { post: { operationId: 'p;' } } } } } },
      },
      operationId: 1,
    },
  ],
])('visits %s', (_, part, expected) => {
  expect(visit(part)).toEqual(expected);
});

test('what does not change stays the same object', () => {
  const parts: JsonObject = {
    a: [{ b: { c: [1, 2] } }],
    links: { l: { operationId: 'same' } },
    properties: { d: { type: 'string' } },
  };
  expect(visit(parts)).toBe(parts);
  const changed = visit({ ...parts, $ref: 'x' }) as JsonObject;
  expect(changed).toEqual({ ...parts, $ref: 'x!' });
  expect(changed.a).toBe(parts.a);
  const list = [parts, { $ref: 'a' }];
  expect((visit(list) as Json[])[0]).toBe(parts);
  // Without these functions, security and links are left alone.
  const bare = { security: [{ a: [] }], links: { l: { operationId: 'o' } } };
  expect(visitReferences(bare, { reference: (text) => text })).toBe(bare);
});

test('values keep their order, and odd names', () => {
  const given = JSON.parse('{"a":1,"__proto__":2,"b":3,"c":4}');
  const visited = visitValues(given, (item, key) => (key === 'b' ? 'new' : item));
  expect(JSON.stringify(visited)).toBe('{"a":1,"__proto__":2,"b":"new","c":4}');
  expect(JSON.stringify(visitValues(given, (_, key) => key))).toBe('{"a":"a","__proto__":"__proto__","b":"b","c":"c"}');
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
