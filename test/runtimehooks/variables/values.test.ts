import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { readSchema, valueCauses, withDefaults } from '../../../src/runtimehooks/variables/index.ts';

const schema = readSchema({
  type: 'object',
  properties: {
    size: { type: 'integer', default: 3 },
    name: { type: 'string', 'x-kubernetes-validations': [{ rule: "self.startsWith('n')", message: 'begins with n' }] },
    nested: { type: 'object', properties: { on: { type: 'boolean', default: true } } },
  },
} satisfies JsonObject);

test.each<[string, Json | undefined, Json | undefined]>([
  ['fields of an object', { name: 'n' }, { name: 'n', size: 3 }],
  ['nested fields', { size: 1, nested: {} }, { size: 1, nested: { on: true } }],
  ['null where null is not allowed', { size: null }, { size: 3 }],
  ['no value', undefined, undefined],
])('defaults: %s', (_, value, expected) => {
  expect(withDefaults(value, schema)).toEqual(expected);
});

test('defaults: of the variable itself, and what was given is not changed', () => {
  expect(withDefaults(undefined, readSchema({ type: 'integer', default: 2 }))).toBe(2);
  expect(withDefaults(null, readSchema({ type: 'integer', default: 2 }))).toBe(2);
  const value = { nested: {} };
  withDefaults(value, schema);
  expect(value).toEqual({ nested: {} });
});

test.each<[string, Json, string[]]>([
  ['accepted', { name: 'no', size: 1 }, []],
  [
    'another type',
    { size: 'x' },
    ['v[0].value.size: Invalid value: "string": v[0].value.size in body must be of type integer: "string"'],
  ],
  [
    'fields that are not specified',
    { other: 1, nested: { off: 1 } },
    [
      'v[0]: Invalid value: "": failed validation: "nested.off,other" fields are not specified in the variable schema of variable "a"',
    ],
  ],
  ['a rule', { name: 'yes' }, ['v[0].value.name: Invalid value: "string": begins with n']],
])('values: %s', (_, value, expected) => {
  expect(valueCauses('a', value, schema, 'v[0]').map(({ field, message }) => `${field}: ${message}`)).toEqual(expected);
});

test('values: rules about the value before are left out', () => {
  const growing = readSchema({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > oldSelf' }] });
  expect(valueCauses('a', 1, growing, 'v[0]')).toEqual([]);
});

test('values: many unknown fields are not all named, and rules share a budget', () => {
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, 1]));
  const [cause] = valueCauses('a', many, schema, 'v[0]');
  expect(cause?.message.match(/f\d+/g)).toHaveLength(20);
  const budget = { left: 1000 };
  expect(valueCauses('a', { name: 'no' }, schema, 'v[0]', budget)).toEqual([]);
  expect(budget.left).toBeLessThan(1000);
  expect(valueCauses('a', { name: 'no' }, schema, 'v[0]', { left: 0 })[0]?.message).toContain('cost budget');
});

test.each([
  ['duration', 'self > duration("5m")', '10m', '1m'],
  ['byte', "self.size() == 3 && self == b'abc'", 'YWJj', 'YWJk'],
])('values: rules see the format %s as its own type', (format, rule, good, bad) => {
  const typed = readSchema({ type: 'string', format, 'x-kubernetes-validations': [{ rule, message: 'no' }] });
  expect(valueCauses('a', good, typed, 'v[0]')).toEqual([]);
  expect(valueCauses('a', bad, typed, 'v[0]')).toEqual([
    expect.objectContaining({ message: expect.stringContaining('no') }),
  ]);
});
