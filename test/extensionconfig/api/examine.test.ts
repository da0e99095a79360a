import { describe, expect, test } from 'vitest';
import { type Examined, examine, type SchemaError } from '../../../src/extensionconfig/api/examine.ts';
import type { Schema } from '../../../src/kubernetes/schema/index.ts';
import { schemaCompiler } from '../../../tools/generate/validators.ts';
import { limitWork } from '../../support/work.ts';

interface LimitedSchema extends Schema {
  maxTotalBytes?: number;
}

/** As many violations of each kind are listed. */
const maxViolations = 100;

/** Examines an object that has the errors of a schema, compiled as that of ExtensionConfig is. */
function examinedObject(object: Record<string, unknown>, schema: LimitedSchema): Examined {
  const validate = schemaCompiler().compile(schema);
  return examine(object, validate(object) ? [] : (validate.errors as unknown as SchemaError[]));
}

const examined = (value: unknown, schema: LimitedSchema): Examined =>
  examinedObject({ f: value }, { type: 'object', properties: { f: schema } });

/** Violations as lines: PATH PROBLEM VALUE: MESSAGE. */
const lines = ({ violations }: Examined) =>
  violations.map(
    (one) => `${one.path.join('.')} ${one.problem} ${'value' in one ? JSON.stringify(one.value) : '-'}: ${one.message}`,
  );

type Type = 'string' | 'integer' | 'array' | 'object';
const values: [value: unknown, ...types: Type[]][] = [
  ['', 'string'],
  ['x', 'string'],
  [1, 'integer'],
  [1.5],
  [true],
  [[], 'array'],
  [{}, 'object'],
  [null],
];
const types: readonly Type[] = ['string', 'integer', 'array', 'object'];

describe.each(types)('type %s', (type) => {
  test.each(values)('of %j', (value, ...fitting) => {
    const result = examined(value, { type });
    if (fitting.includes(type)) {
      expect(lines(result)).toEqual([]);
      expect(result.limited).toEqual({ f: value });
    } else {
      expect(lines(result)).toEqual([`f type ${JSON.stringify(value)}: must be of type ${type}`]);
      expect(result.limited).toEqual({});
    }
    expect(result.whole).toBe(result.limited);
  });
});

test.each([
  ['string', ''],
  ['object', {}],
] as const)('an item that is no %s is replaced with an empty one', (type, empty) => {
  expect(examined([1, 1], { type: 'array', items: { type } }).limited).toEqual({ f: [empty, empty] });
});

const smile = '\u{1F600}';

test('counts no more characters of a string than its limits are about', () => {
  const text = 'x'.repeat(2 ** 25);
  // One by one they take a fifth of a second.
  using _work = limitWork(100);
  expect(lines(examined(text, { type: 'string', minLength: 2 }))).toEqual([]);
});

describe('a limit', () => {
  const tooLong = (value: unknown) => `f tooLong ${JSON.stringify(value)}: must be at most 2 characters long`;
  test.each<[string, LimitedSchema, within: unknown[], beyond: [value: unknown, line: string][]]>([
    [
      'maxLength, in code points',
      { type: 'string', maxLength: 2 },
      ['', 'ab', smile, smile + smile, `a${smile}`],
      ['abc', `ab${smile}`, smile.repeat(3), 'abcd', 'abcde'].map((value) => [value, tooLong(value)]),
    ],
    ['maxItems', { type: 'array', maxItems: 1 }, [[], [1]], [[[1, 2], 'f tooMany [1,2]: must have at most 1 items']]],
    [
      'bytes of keys and values',
      { type: 'object', maxTotalBytes: 4 },
      [{}, { a: 'xyz' }, { a: 'é', b: 7 }, { abcd: '' }],
      [
        [{ a: 'xyzw' }, 'f tooLong {"a":"xyzw"}: must be at most 4 bytes, keys and values together'],
        [{ é: 'é', b: '' }, 'f tooLong {"é":"é","b":""}: must be at most 4 bytes, keys and values together'],
      ],
    ],
  ])('%s: drops what exceeds it', (_name, schema, within, beyond) => {
    for (const value of within) {
      const result = examined(value, schema);
      expect(lines(result)).toEqual([]);
      expect(result.whole).toBe(result.limited);
      expect(result.limited).toEqual({ f: value });
    }
    for (const [value, line] of beyond) {
      const result = examined(value, schema);
      expect(lines(result)).toEqual([line]);
      expect(result.limited).toEqual({});
      expect(result.whole).toEqual({ f: value });
    }
  });

  test.each<[string, LimitedSchema, within: unknown[], beyond: [value: unknown, line: string][]]>([
    ['minimum', { type: 'integer', minimum: 2 }, [2, 3], [[1, 'f invalid 1: must be at least 2']]],
    [
      'minLength, in code points',
      { type: 'string', minLength: 2 },
      ['ab', smile + smile],
      ['', 'a', smile].map((value) => [value, `f invalid "${value}": must have at least 2 characters`]),
    ],
    [
      'pattern',
      { type: 'string', pattern: '^.b$' },
      ['ab', `${smile}b`],
      [
        ['b', 'f invalid "b": must match ^.b$'],
        ['ac', 'f invalid "ac": must match ^.b$'],
      ],
    ],
    [
      'minProperties',
      { type: 'object', minProperties: 1 },
      [{ a: 1 }, { a: 1, b: 1 }],
      [[{}, 'f invalid {}: must have at least 1 properties']],
    ],
    [
      'required',
      { type: 'object', required: ['a', 'b'] },
      [{ a: null, b: 1 }],
      [[{ b: 1 }, 'f.a required -: must be set']],
    ],
    [
      'enum',
      { type: 'string', enum: ['a', 'b'] },
      ['a', 'b'],
      [
        ['c', 'f notSupported "c": must be one of a, b'],
        ['', 'f notSupported "": must be one of a, b'],
      ],
    ],
    ['format', { type: 'string', format: 'byte' }, ['eA=='], [['x', 'f invalid "x": must be of format byte']]],
    [
      'format of a number',
      { type: 'integer', format: 'int32' },
      [1],
      [[2 ** 31, 'f invalid 2147483648: must be of format int32']],
    ],
  ])('%s: keeps what violates it', (_name, schema, within, beyond) => {
    expect(within.flatMap((value) => lines(examined(value, schema)))).toEqual([]);
    for (const [value, line] of beyond) {
      const result = examined(value, schema);
      expect(lines(result)).toEqual([line]);
      expect(result.limited).toEqual({ f: value });
      expect(result.whole).toBe(result.limited);
    }
  });

  test('reports nothing else about an oversized value, and does not look inside it', () => {
    expect(lines(examined('abc', { type: 'string', maxLength: 2, pattern: 'x', enum: ['x'] }))).toEqual([
      'f tooLong "abc": must be at most 2 characters long',
    ]);
    const items: LimitedSchema = { type: 'array', maxItems: 1, items: { type: 'string' } };
    const result = examined([1, 'x'], items);
    expect(lines(result)).toEqual(['f tooMany [1,"x"]: must have at most 1 items']);
    expect(result.limited).toEqual({});
    expect(result.whole).toEqual({ f: ['', 'x'] });
  });
});

test('reports each missing field as one violation, and keeps the paths of later ones', () => {
  const field: LimitedSchema = { type: 'object', required: ['a', 'b'] };
  const schema: LimitedSchema = { type: 'object', properties: { f: field, g: field } };
  expect(lines(examinedObject({ f: {}, g: { b: 1 } }, schema))).toEqual([
    'f.a required -: must be set',
    'f.b required -: must be set',
    'g.a required -: must be set',
  ]);
});

describe('nested values', () => {
  const text: LimitedSchema = { type: 'string', maxLength: 2 };

  test('of a list, with their indices', () => {
    const value = ['a', 1, 'abc', 'b'];
    const result = examined(value, { type: 'array', items: text });
    expect(lines(result)).toEqual([
      'f.1 type 1: must be of type string',
      'f.2 tooLong "abc": must be at most 2 characters long',
    ]);
    expect(result.limited).toEqual({ f: ['a', '', '', 'b'] });
    expect(result.whole).toEqual({ f: ['a', '', 'abc', 'b'] });
    expect(value).toEqual(['a', 1, 'abc', 'b']);
  });

  test('of a map, and of an object with fields that are not in its schema', () => {
    const value = { a: 'x', b: 1, c: 'abc', d: 'y' };
    const map = examined(value, { type: 'object', additionalProperties: text });
    expect(map.limited).toEqual({ f: { a: 'x', d: 'y' } });
    expect(map.whole).toEqual({ f: { a: 'x', c: 'abc', d: 'y' } });
    const object = examined(value, { type: 'object', properties: { a: { type: 'integer' } } });
    expect(lines(object)).toEqual(['f.a type "x": must be of type integer']);
    expect(object.limited).toEqual({ f: { b: 1, c: 'abc', d: 'y' } });
  });

  test("in the order of the schema's fields, others by the schema of additional properties", () => {
    const schema: LimitedSchema = {
      type: 'object',
      properties: { a: { type: 'integer' } },
      additionalProperties: { type: 'string' },
    };
    expect(lines(examined({ a: 1, b: 'x', constructor: 1 }, schema))).toEqual([
      'f.constructor type 1: must be of type string',
    ]);
  });
});

describe('many violations', () => {
  const schema: LimitedSchema = { type: 'array', items: { type: 'string', minLength: 2 } };
  const of = (wrong: number, short: number) =>
    lines(examined([...Array(wrong).fill(true), ...Array(short).fill('a')], schema));

  test('up to a hundred of a kind are all listed', () => {
    const found = of(maxViolations, maxViolations);
    expect(found).toHaveLength(2 * maxViolations);
    expect(found[0]).toBe('f.0 type true: must be of type string');
    expect(found[99]).toBe('f.99 type true: must be of type string');
    expect(found[100]).toBe('f.100 invalid "a": must have at least 2 characters');
    expect(found[199]).toBe('f.199 invalid "a": must have at least 2 characters');
  });

  test('beyond a hundred are counted by the last one', () => {
    const found = of(maxViolations + 1, maxViolations + 5);
    expect(found).toHaveLength(2 * maxViolations);
    expect(found[98]).toBe('f.98 type true: must be of type string');
    expect(found[99]).toBe(' type -: 2 more fields have a wrong type');
    expect(found[199]).toBe(' invalid -: 6 more fields do not fit the CustomResourceDefinition');
  });
});
