import { expect, onTestFinished, test, vi } from 'vitest';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { checkDefinitions } from '../../../src/runtimehooks/variables/index.ts';
import { limitWork, sized } from '../../support/work.ts';

const defined = (schema: JsonObject, more: JsonObject = {}): JsonObject => ({
  name: 'a',
  schema: { openAPIV3Schema: schema },
  ...more,
});
const fieldsOf = (...variables: Json[]) => checkDefinitions(variables, 'v').causes.map(({ field }) => field);
const root = 'v[a].schema.openAPIV3Schema';
const labels = { labels: { ok: 'fine', Ok: '', 'b.c/d': 'not fine', 'E.f/g': '1', n: 1 } };

test('metadata: keys and values of labels, keys of annotations, at every place', () => {
  const annotations = { annotations: { 'E.f/g': 'any thing', 'b/': 'x', ok: 'not a label value' } };
  expect(fieldsOf(defined({ type: 'string' }, { metadata: labels }))).toEqual([
    'v[a].metadata.labels',
    'v[a].metadata.labels',
  ]);
  expect(fieldsOf(defined({ type: 'string' }, { deprecatedV1Beta1Metadata: annotations }))).toEqual([
    'v[a].deprecatedV1Beta1Metadata.annotations',
  ]);
  const inner = { type: 'string', 'x-metadata': annotations };
  expect(fieldsOf(defined({ type: 'object', properties: { b: inner } }))).toEqual([
    `${root}.properties[b].x-metadata.annotations`,
  ]);
});

test('rules: what enums and inner defaults break', () => {
  const rules = [{ rule: 'self > 1' }];
  const number = { type: 'integer', 'x-kubernetes-validations': rules };
  expect(fieldsOf(defined({ ...number, enum: [2, 1, 3, 0], example: 2 }))).toEqual([
    `${root}.enum[1]`,
    `${root}.enum[3]`,
  ]);
  expect(fieldsOf(defined({ type: 'object', properties: { b: { ...number, default: 1 } } }))).toEqual([
    `${root}.properties[b].default`,
  ]);
  // As in Cluster API, the rules of parts are evaluated for an example only if its schema has a rule itself.
  const outer = { type: 'object', properties: { b: number }, example: { b: 1 }, enum: [{ b: 1 }] };
  expect(fieldsOf(defined(outer))).toEqual([]);
});

test('types: what needs none', () => {
  const open = { 'x-kubernetes-preserve-unknown-fields': true };
  expect(fieldsOf(defined({ type: 'object', properties: { b: open } }))).toEqual([]);
  expect(fieldsOf(defined({ type: 'string', enum: ['b', null] }))).toEqual([]);
});

test('limits: names, problems, and work', () => {
  expect(fieldsOf(defined({ type: 'string' }, { name: 'x'.repeat(256) }))).toEqual([]);
  const bad = Array.from({ length: 600 }, (_, index) => defined({}, { name: `v${index}` }));
  expect(fieldsOf(...bad)).toHaveLength(500);
  const fine = checkDefinitions([defined({ type: 'string' }), 1], 'v');
  expect(fine).toEqual({ causes: [], isComplete: true, unevaluated: [] });
  const heavy = Array.from({ length: 200 }, (_, index) =>
    defined({ type: 'string', pattern: 'a{999}b{999}' }, { name: `v${index}` }),
  );
  expect(checkDefinitions([...heavy, defined({})], 'v')).toMatchObject({ causes: [], isComplete: false });
});

const inner = { type: 'object', properties: { a: { type: 'string' } } };
const withRule = (rule: string): JsonObject =>
  defined({
    type: 'object',
    properties: { b: inner, names: { type: 'array', items: { type: 'string' } }, n: { type: 'integer' } },
    'x-kubernetes-validations': [{ rule }],
  });

test.each([
  'self == oldSelf',
  'self.b == oldSelf.b',
  'self.b != null',
  'optional.of(self.b) == optional.of(oldSelf.b)',
  "self.names.all(i, name, name != '')",
  'self.names.transformList(i, name, i).size() < 3',
  'lists.range(3).size() == self.n',
  'ip.isCanonical(self.b.a)',
])('rules: %s is one for Cluster API', (rule) => {
  expect(fieldsOf(withRule(rule))).toEqual([]);
});

test.each([
  'self.n == oldSelf.b',
  'self.n != null',
  'self.names.all(i, i == j)',
  'base64 == self',
])('rules: %s is refused', (rule) => {
  expect(fieldsOf(withRule(rule))).toEqual([`${root}.x-kubernetes-validations[0].rule`]);
});

test('limits: what is not checked is said, not taken for valid', () => {
  const wide = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`p${i}`, { type: 'integer' }]));
  const nested = (levels: number): JsonObject => {
    let schema: JsonObject = {
      type: 'object',
      // Objects in a list count like others, and declare nothing, which would take most of the time.
      properties: { p1: { type: 'integer' }, list: { type: 'array', items: { type: 'object', properties: wide } } },
      'x-kubernetes-validations': [{ rule: "self.p1 == 'x'" }],
    };
    for (let level = 0; level < levels; level++) {
      schema = { type: 'object', properties: { a: schema }, 'x-kubernetes-validations': [{ rule: 'true' }] };
    }
    return schema;
  };
  expect(fieldsOf(defined(nested(1)))).toHaveLength(1);
  // The schema is declared for each rule, and at most 50,000 parts are.
  expect(checkDefinitions([defined(nested(25))], 'v')).toMatchObject({ causes: [], isComplete: false });

  const skipped = { type: 'integer', default: 1, 'x-kubernetes-validations': [{ rule: 'self > 0' }] };
  let user = 0;
  // Each rule takes longer than all of them may.
  vi.spyOn(process, 'threadCpuUsage').mockImplementation(() => {
    user += 3_000_000;
    return { user, system: 0 };
  });
  onTestFinished(() => void vi.restoreAllMocks());
  expect(checkDefinitions([defined(skipped), { ...defined(skipped), name: 'second' }], 'v')).toMatchObject({
    causes: [],
    isComplete: false,
  });
});

test('limits: the schema that many rules are checked against', () => {
  const properties = Object.fromEntries(Array.from({ length: sized(5_000) }, (_, i) => [`p${i}`, { type: 'string' }]));
  let schema: JsonObject = { type: 'object', properties };
  for (let level = 0; level < sized(150); level++) {
    schema = { type: 'object', properties: { a: schema }, 'x-kubernetes-validations': [{ rule: 'true' }] };
  }
  using _work = limitWork(1_500);
  expect(fieldsOf(defined(schema))).toEqual([]);
});
