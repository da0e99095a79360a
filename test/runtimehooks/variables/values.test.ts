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
    ['v[0].value.size: Invalid value: "{\\"size\\":\\"x\\"}": size in body must be of type integer: "string"'],
  ],
  [
    'fields that are not specified',
    { other: 1, nested: { off: 1 } },
    [
      'v[0]: Invalid value: "{\\"nested\\":{\\"off\\":1},\\"other\\":1}": failed validation: "nested.off,other" field(s) are not specified in the variable schema of variable "a"',
    ],
  ],
  ['a rule', { name: 'yes' }, ['v[0].value.name: Invalid value: "{\\"name\\":\\"yes\\"}": begins with n']],
])('values: %s', (_, value, expected) => {
  expect(valueCauses('a', value, schema, 'v[0]').map(({ field, message }) => `${field}: ${message}`)).toEqual(expected);
});

// What Cluster API's own tests expect (cluster_variable_validation_test.go), and what follows from its code.
test.each<[string, JsonObject, Json, string[]]>([
  ['another type', { type: 'string' }, 1, ['value: Invalid value: "1": must be of type string: "integer"']],
  [
    'a text for a number',
    { type: 'integer', minimum: 1 },
    '1',
    [String.raw`value: Invalid value: "\"1\"": must be of type integer: "string"`],
  ],
  ['null', { type: 'string' }, null, ['value: Invalid value: "": must be of type string: "null"']],
  [
    'too large',
    { type: 'integer', maximum: 10 },
    99,
    ['value: Invalid value: "99": should be less than or equal to 10'],
  ],
  [
    'a pattern',
    { type: 'string', pattern: '^[0-9]+$' },
    '000000a',
    [String.raw`value: Invalid value: "\"000000a\"": should match '^[0-9]+$'`],
  ],
  [
    'a format',
    { type: 'string', format: 'uri' },
    'not a URI',
    [String.raw`value: Invalid value: "\"not a URI\"": must be of type uri: "not a URI"`],
  ],
  [
    'not one of those allowed',
    { type: 'string', enum: ['a', 'b'] },
    'c',
    [String.raw`value: Unsupported value: "\"c\"": supported values: "a", "b"`],
  ],
  ['too long', { type: 'string', maxLength: 1 }, 'ab', ['value: Too long: may not be more than 1 byte']],
  [
    'too many',
    { type: 'array', items: { type: 'string' }, maxItems: 1 },
    ['a', 'b'],
    [String.raw`value: Too many: "[\"a\",\"b\"]": must have at most 1 item`],
  ],
  [
    'duplicates',
    { type: 'array', items: { type: 'string' }, uniqueItems: true },
    ['a', 'a', 'a'],
    [String.raw`value: Invalid value: "[\"a\",\"a\",\"a\"]": shouldn't contain duplicates`],
  ],
  [
    'an item',
    { type: 'array', items: { type: 'string' } },
    [1],
    ['value.[0]: Invalid value: "[1]": [0] in body must be of type string: "integer"'],
  ],
  [
    'an entry of a map',
    { type: 'object', additionalProperties: { type: 'string' } },
    { k: 1 },
    [String.raw`value.k: Invalid value: "{\"k\":1}": .k in body must be of type string: "integer"`],
  ],
  [
    'a field that is missing',
    { type: 'object', required: ['url'], properties: { url: { type: 'string' } } },
    {},
    ['value.url: Required value'],
  ],
  [
    'alternatives below a field',
    {
      type: 'object',
      properties: {
        in: { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }], properties: { a: {}, b: {} } },
      },
    },
    { in: { a: 1, b: 1 } },
    [
      String.raw`value: Invalid value: "{\"in\":{\"a\":1,\"b\":1}}": "in" must validate one and only one schema (oneOf). Found 2 valid alternatives`,
    ],
  ],
  [
    'all of several schemas',
    {
      type: 'object',
      allOf: [{ required: ['a'] }, { required: ['b'] }],
      properties: { a: { type: 'boolean' }, b: { type: 'boolean' } },
    },
    { a: true },
    [
      'value.b: Required value',
      String.raw`value: Invalid value: "{\"a\":true}": "" must validate all the schemas (allOf)`,
    ],
  ],
  [
    'fields of items that are not specified',
    { type: 'array', items: { type: 'object', properties: {} } },
    [{ '<': 1 }],
    [
      String.raw`: Invalid value: "[{\"\\u003c\":1}]": failed validation: "variableValue[0].<" field(s) are not specified in the variable schema of variable "a"`,
    ],
  ],
])('values are refused in the words of Cluster API: %s', (_, variable, value, expected) => {
  const path = 'spec.topology.variables[a]';
  expect(
    valueCauses('a', value, readSchema(variable), path).map(({ field = '', message }) =>
      `${field}: ${message}`.slice(path.length).replace(/^\./, ''),
    ),
  ).toEqual(expected);
});

test('values: a long value does not hide what is wrong with it', () => {
  const [cause] = valueCauses('a', 'x'.repeat(10_000), readSchema({ type: 'integer' }), 'v[0]');
  expect(cause?.message).toMatch(/^Invalid value: "\\"x{100,200}…": must be of type integer: "string"$/);
});

test('values: rules about the value before are left out', () => {
  const growing = readSchema({ type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > oldSelf' }] });
  expect(valueCauses('a', 1, growing, 'v[0]')).toEqual([]);
});

test('values: many unknown fields are not all named, and rules share a budget', () => {
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, 1]));
  const [cause] = valueCauses('a', many, schema, 'v[0]');
  const [, listed] = cause?.message.split('failed validation: ') ?? [];
  expect(listed?.match(/f\d+/g)).toHaveLength(20);
  expect(listed).toContain(',…" field(s)');
  const budget = { leftMs: 1000 };
  expect(valueCauses('a', { name: 'no' }, schema, 'v[0]', { budget })).toEqual([]);
  expect(budget.leftMs).toBeLessThan(1000);
  expect(() => valueCauses('a', { name: 'no' }, schema, 'v[0]', { budget: { leftMs: 0 } })).toThrow(
    'could not be evaluated in time',
  );
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
