import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ValidationRule } from '../../../src/kubernetes/cel/index.ts';
import { checkRules, validateRules } from '../../../src/kubernetes/cel/index.ts';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import type { Schema } from '../../../src/kubernetes/schema/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { eventually, send } from '../../sandbox/client.ts';

const scale: Schema = {
  type: 'object',
  properties: {
    replicas: { type: 'integer' },
    max: { type: 'integer' },
    ratio: { type: 'number' },
    since: { type: 'string', format: 'date-time' },
    wait: { type: 'string', format: 'duration' },
    'with-dash': { type: 'string' },
    namespace: { type: 'string' },
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, port: { type: 'integer' } },
        required: ['name'],
      },
    },
  },
};

function problems(rule: ValidationRule, self: Json, old?: Json, place: Schema = scale): [string, string][] {
  const schema = { ...place, 'x-kubernetes-validations': [rule] };
  const root: Schema = { type: 'object', properties: { spec: schema } };
  const previous = old === undefined ? undefined : { spec: old };
  return validateRules({ spec: self }, previous, root).map(({ field = '', message }) => [field, message]);
}

test.each<[string, string, Json, Json | undefined, boolean]>([
  ['integers', 'self.replicas <= self.max', { replicas: 1, max: 2 }, undefined, true],
  ['integers that are too large', 'self.replicas <= self.max', { replicas: 3, max: 2 }, undefined, false],
  ['a number that happens to be whole', 'self.ratio + 0.5 > 1.0', { ratio: 1 }, undefined, true],
  ['a time', "self.since > timestamp('2026-01-01T00:00:00Z')", { since: '2026-02-01T00:00:00Z' }, undefined, true],
  ['a duration', "self.wait > duration('47h')", { wait: '48h' }, undefined, true],
  ['a name with a dash', "self.with__dash__dash == 'x'", { 'with-dash': 'x' }, undefined, true],
  ['a reserved name', "self.__namespace__ == 'x'", { namespace: 'x' }, undefined, true],
  ['a list', "self.ports.all(p, p.name.startsWith('a'))", { ports: [{ name: 'b' }] }, undefined, false],
  ['an absent field', '!has(self.max) || self.max > 0', {}, undefined, true],
  ['a transition without an old value', 'self.max == oldSelf.max', { max: 2 }, undefined, true],
  [
    'a text and a comment with oldSelf',
    "self.name != 'oldSelf' // unlike oldSelf",
    { name: 'oldSelf' },
    undefined,
    false,
  ],
  ['a null, which is not true', 'self.name', { name: null }, undefined, false],
  ['a field oldSelf', 'self.oldSelf == 1', { oldSelf: 2 }, undefined, false],
  ['oldSelf within a list, a call and a macro', '[1].all(x, size([oldSelf.max]) == x)', { max: 2 }, undefined, true],
  ['a forbidden transition', 'self.max == oldSelf.max', { max: 2 }, { max: 1 }, false],
  [
    'a function that this engine does not have',
    "quantity(self.with__dash__dash).isGreaterThan(quantity('1'))",
    {},
    undefined,
    true,
  ],
])('a rule about %s', (_name, rule, self, old, holds) => {
  expect(problems({ rule }, self, old)).toEqual(holds ? [] : [['spec', `Invalid value: failed rule: ${rule}`]]);
});

test('rules of resources may use fields that the schema does not name, and their texts are checked', () => {
  const rules = [
    { rule: 'self.metadata.name != "x"' },
    { rule: "sets.contains(['a'], ['b'])" },
    { rule: 'true', message: 'a\nb' },
    { rule: 'true', messageExpression: '1' },
    { rule: 'true', reason: 'Nope' },
    { rule: 'true', fieldPath: ".ports['x']" },
    { rule: 'true', fieldPath: ".ratio['x']" },
  ];
  const schema = { ...scale, 'x-kubernetes-validations': rules } as unknown as JsonObject;
  const { causes, unknown } = checkRules(schema, 's');
  const at = (index: number) => `s.x-kubernetes-validations[${index}]`;
  expect(causes.map(({ field }) => field)).toEqual([
    `${at(2)}.message`,
    `${at(3)}.messageExpression`,
    `${at(4)}.reason`,
    `${at(5)}.fieldPath`,
    `${at(6)}.fieldPath`,
  ]);
  expect(unknown).toEqual([`${at(1)}.rule is not evaluated here: Unknown variable: sets`]);
});

test('violations have messages, reasons and fields', () => {
  const rule = 'self.replicas <= self.max';
  const self = { replicas: 3, max: 2 };
  expect(problems({ rule, message: 'too many' }, self)).toEqual([['spec', 'Invalid value: too many']]);
  expect(problems({ rule, messageExpression: "'at most ' + string(self.max)" }, self)).toEqual([
    ['spec', 'Invalid value: at most 2'],
  ]);
  expect(problems({ rule, message: 'x', messageExpression: 'self.nothing' }, self)[0]?.[1]).toMatch(/: x$/);
  expect(problems({ rule, message: 'x', reason: 'FieldValueForbidden', fieldPath: '.replicas' }, self)).toEqual([
    ['spec.replicas', 'Forbidden: x'],
  ]);
  expect(problems({ rule: 'self.nothing == 1', message: 'x' }, self)).toEqual([
    ['spec', 'Invalid value: "object": No such key: nothing evaluating rule: x'],
  ]);
});

test('an old value may be absent', () => {
  const rule: ValidationRule = { rule: 'oldSelf.hasValue() || self.max == 1', message: 'x', optionalOldSelf: true };
  expect(problems(rule, { max: 2 })).toHaveLength(1);
  expect(problems(rule, { max: 2 }, { max: 1 })).toHaveLength(0);
});

test('items of a list with keys are matched with their old versions', () => {
  const ports = scale.properties?.ports as Schema;
  const items: Schema = {
    ...ports.items,
    'x-kubernetes-validations': [{ rule: 'self.port == oldSelf.port', message: 'x' }],
  };
  const schema: Schema = { type: 'object', properties: { ports: { ...ports, items } } };
  const before = {
    ports: [
      { name: 'a', port: 1 },
      { name: 'b', port: 2 },
    ],
  };
  const after = {
    ports: [
      { name: 'new', port: 9 },
      { name: 'b', port: 3 },
      { name: 'a', port: 1 },
    ],
  };
  expect(validateRules(after, before, schema)).toMatchObject([{ field: 'ports[1]' }]);
});

describe('rules of what an update leaves as it was', () => {
  const small: Schema = { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self < 5' }] };
  const kept: Schema = { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > oldSelf' }] };
  const schema: Schema = {
    type: 'object',
    properties: { small, kept, list: { type: 'array', items: small } },
  };
  test.each<[title: string, old: Json, now: Json, fields: string[]]>([
    ['hold for it', { small: 7 }, { small: 7, list: [] }, []],
    ['do not hold for what changes', { small: 7 }, { small: 8 }, ['small']],
    ['hold for the items of a list as a whole', { list: [7] }, { small: 1, list: [7] }, []],
    ['do not hold for items of a list that changes', { list: [7] }, { list: [7, 1] }, ['list[0]']],
    ['are evaluated if they compare with the old value', { kept: 1 }, { kept: 1 }, ['kept']],
  ])('%s', (_title, old, now, fields) => {
    expect(validateRules(now, old, schema).map(({ field }) => field)).toEqual(fields);
  });
});

test.each<[Json, string]>([
  [{ rule: 'self.' }, 'compilation failed: '],
  [{ rule: 'other == 1' }, 'compilation failed: Unknown variable: other'],
  [{ rule: '1' }, 'must evaluate to bool, not int'],
  [{ rule: ' ' }, 'rule is not specified'],
])('%j is an invalid rule', (rule, message) => {
  const schema = { properties: { a: { items: { 'x-kubernetes-validations': [rule] } } } } as JsonObject;
  const { causes } = checkRules(schema, 's');
  expect(causes).toMatchObject([
    { field: 's.properties[a].items.x-kubernetes-validations[0].rule', message: expect.stringContaining(message) },
  ]);
});

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

test('rules of a definition are applied to its objects, with a warning about a rule that cannot be evaluated', async () => {
  const schema = {
    type: 'object',
    properties: {
      spec: {
        ...scale,
        'x-kubernetes-validations': [
          { rule: 'self.replicas <= self.max', message: 'replicas must not exceed max', fieldPath: '.replicas' },
          { rule: 'self.max >= oldSelf.max', message: 'max only grows' },
          { rule: "url(self.namespace).getScheme() == 'https'" },
          { rule: 'self.max < 1000', messageExpression: "'%s is too large'.format([self.max])" },
        ],
      },
    },
  };
  const made = await send(sandbox, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: {
      metadata: { name: 'scales.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural: 'scales', kind: 'Scale' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    },
  });
  expect(made.status, made.text).toBe(201);
  expect(made.headers.warning).toMatch(/x-kubernetes-validations\[2\]\.rule is not evaluated here/);
  expect(made.headers.warning).toMatch(/x-kubernetes-validations\[3\]\.messageExpression is not evaluated here/);
  const path = '/apis/example.com/v1/scales';
  const post = (name: string, spec: object) => send(sandbox, 'POST', path, { body: { metadata: { name }, spec } });
  const created = await eventually(
    () => post('one', { replicas: 1, max: 2 }),
    ({ status }) => status !== 404,
  );
  expect(created.status).toBe(201);
  const refused = await post('two', { replicas: 3, max: 2 });
  expect(refused.json).toMatchObject({
    code: 422,
    message: 'Scale.example.com "two" is invalid: spec.replicas: Invalid value: replicas must not exceed max',
  });
  const patched = await send(sandbox, 'PATCH', `${path}/one`, {
    body: { spec: { max: 1 } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  expect((patched.json.details as JsonObject).causes).toMatchObject([
    { field: 'spec', message: 'Invalid value: max only grows' },
  ]);
});
