import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import type { Schema } from '../../../src/kubernetes/schema/index.ts';
import { applyDefaults, prune, validateListTypes, validateSchema } from '../../../src/kubernetes/schema/index.ts';

describe('invalid values', () => {
  test.each<[Schema, Json, string]>([
    [{ type: 'string' }, 1, 'Invalid value: "integer": a in body must be of type string: "integer"'],
    [{ type: 'string' }, null, 'Invalid value: "null": a in body must be of type string: "null"'],
    [{ type: 'string', format: 'byte' }, 1, 'Invalid value: "int64": a in body must be of type byte: "int64"'],
    [{ type: 'string', format: 'byte' }, {}, 'Invalid value: "": a in body must be of type byte: ""'],
    [{ type: 'integer', format: 'int32' }, 'x', 'Invalid value: "string": a in body must be of type integer: "string"'],
    [{ type: 'object' }, [], 'Invalid value: "array": a in body must be of type object: "array"'],
    [
      { 'x-kubernetes-int-or-string': true },
      true,
      'Invalid value: "boolean": a in body must be of type integer,string: "boolean"',
    ],
    [{ type: 'string', enum: ['x', 'y'] }, 'z', 'Unsupported value: "z": supported values: "x", "y"'],
    [{ type: 'string', minLength: 2 }, 'x', 'Invalid value: "x": a in body should be at least 2 chars long'],
    [{ type: 'string', maxLength: 1 }, '🙂x', 'Too long: may not be more than 1 byte'],
    [{ type: 'string', maxLength: 2 }, 'xyz', 'Too long: may not be more than 2 bytes'],
    [{ type: 'integer', enum: [1, 2] }, 3, 'Unsupported value: 3: supported values: "1", "2"'],
    [{ enum: [{ b: 1 }] }, { b: 2 }, 'Unsupported value: {"b":2}: supported values: "{\\"b\\":1}"'],
    [{ type: 'array', maxItems: 1 }, [1, 2], 'Too many: 2: must have at most 1 item'],
    [{ type: 'string', pattern: '^b' }, 'x', 'Invalid value: "x": a in body should match \'^b\''],
    [{ type: 'string', format: 'date-time' }, 'x', 'Invalid value: "x": a in body must be of type date-time: "x"'],
    [{ type: 'string', format: 'byte' }, '!', 'Invalid value: "!": a in body must be of type byte: "!"'],
    [{ type: 'string', format: 'duration' }, 'x', 'Invalid value: "x": a in body must be of type duration: "x"'],
    [{ type: 'integer', minimum: 1 }, 0, 'Invalid value: 0: a in body should be greater than or equal to 1'],
    [
      { type: 'integer', minimum: 1, exclusiveMinimum: true },
      1,
      'Invalid value: 1: a in body should be greater than 1',
    ],
    [{ type: 'integer', maximum: 1 }, 2, 'Invalid value: 2: a in body should be less than or equal to 1'],
    [{ type: 'number', maximum: 1, exclusiveMaximum: true }, 1, 'Invalid value: 1: a in body should be less than 1'],
    [{ type: 'number', multipleOf: 0.1 }, 0.35, 'Invalid value: 0.35: a in body should be a multiple of 0.1'],
    [
      { type: 'integer', format: 'int32' },
      2 ** 31,
      'Invalid value: "": Checked value must be of type integer with format int32 in a',
    ],
    [{ type: 'array', minItems: 1 }, [], 'Invalid value: 0: a in body should have at least 1 items'],
    [{ type: 'array', maxItems: 0 }, [1], 'Too many: 1: must have at most 0 items'],
    [{ type: 'object', minProperties: 1 }, {}, 'Invalid value: 0: a in body should have at least 1 properties'],
    [{ type: 'object', maxProperties: 0 }, { b: 1 }, 'Too many: 1: must have at most 0 items'],
    [{ type: 'object', required: ['b'] }, {}, 'Required value'],
    [
      { type: 'array', uniqueItems: true },
      ['x', 'x'],
      `Invalid value: ["x","x"]: a in body shouldn't contain duplicates`,
    ],
    [
      { type: 'string', pattern: '(?=a)' },
      'x',
      'Invalid value: "x": a in body should match \'(?=a), but pattern is invalid: error parsing regexp: invalid or unsupported Perl syntax: `(?=`\'',
    ],
    [
      { type: 'string', minLength: 1, pattern: 'x' },
      '',
      'Invalid value: "": a in body should be at least 1 chars long',
    ],
    [{ anyOf: [{ minLength: 2 }] }, 'x', 'Invalid value: "": "a" must validate at least one schema (anyOf)'],
    [
      { oneOf: [{ minLength: 1 }, { minLength: 0 }] },
      'x',
      'Invalid value: "": "a" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
    [
      { oneOf: [{ minLength: 2 }] },
      'x',
      'Invalid value: "": "a" must validate one and only one schema (oneOf). Found none valid',
    ],
    [{ not: { enum: ['x'] } }, 'x', 'Invalid value: "": "a" must not validate the schema (not)'],
  ])('%j: %j', (schema, value, message) => {
    expect(validateSchema({ a: value }, { properties: { a: schema } }).map((cause) => cause.message)).toEqual([
      message,
    ]);
  });

  test('all of several schemas: what is wrong, and that not all fit', () => {
    const long = 'Invalid value: "x": a in body should be at least 2 chars long';
    const all = 'Invalid value: "": "a" must validate all the schemas (allOf)';
    const messages = (allOf: Schema[]) =>
      validateSchema({ a: 'x' }, { properties: { a: { allOf } } }).map((cause) => cause.message);
    expect(messages([{ minLength: 2 }])).toEqual([long, `${all}. None validated`]);
    expect(messages([{ minLength: 2 }, { minLength: 1 }])).toEqual([long, all]);
  });

  test.each<[Schema, Json]>([
    [{ type: 'number', multipleOf: 0.1 }, 0.3],
    [{ type: 'number' }, 1],
    [{ type: 'string', maxLength: 1 }, '🙂'],
    [{ type: 'string', format: 'unheard-of' }, 'x'],
    [{ type: 'string', pattern: '(?P<name>x)' }, 'x'],
    [{ type: 'string', format: 'duration' }, '1h3.5m'],
    [{ 'x-kubernetes-int-or-string': true }, '50%'],
    [{ type: 'object', additionalProperties: { type: 'integer' } }, { constructor: 1 }],
  ])('%j: %j is valid', (schema, value) => {
    expect(validateSchema({ a: value }, { properties: { a: schema } })).toEqual([]);
  });
});

test('defaults apply to absent properties and to nulls that are not allowed, also in items, but not in absent objects', () => {
  const item: Schema = { type: 'object', properties: { n: { type: 'integer', default: 1 } } };
  const schema: Schema = {
    type: 'object',
    properties: {
      list: { type: 'array', items: item },
      map: { type: 'object', additionalProperties: item },
      nulls: { type: 'object', additionalProperties: { ...item, default: { n: 3 } } },
      items: { type: 'array', items: { type: 'integer', default: 4 } },
      absent: item,
      whole: { ...item, default: {} },
      nulled: { type: 'string', default: 'x' },
      kept: { type: 'string', default: 'x', nullable: true },
    },
  };
  const nulls = { nulls: { a: null, b: {} }, items: [null, 5], nulled: null, kept: null };
  const value: JsonObject = { list: [{}, { n: 2 }, null], map: { a: {}, b: null }, ...nulls };
  applyDefaults(value, schema);
  expect(value).toEqual({
    list: [{ n: 1 }, { n: 2 }, null],
    map: { a: { n: 1 }, b: null },
    nulls: { a: { n: 3 }, b: { n: 1 } },
    items: [4, 5],
    whole: { n: 1 },
    nulled: 'x',
    kept: null,
  });
});

test('pruning removes unspecified fields, keeps open parts, and the metadata of embedded objects', () => {
  const schema: Schema = {
    type: 'object',
    properties: {
      open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { in: { type: 'object' } } },
      embedded: { type: 'object', 'x-kubernetes-embedded-resource': true },
      list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
    },
  };
  const value: JsonObject = {
    apiVersion: 'v1',
    metadata: { name: 'x' },
    other: 1,
    open: { anything: 1, in: { gone: 1 } },
    embedded: { apiVersion: 'v1', kind: 'X', metadata: {}, spec: {} },
    list: [{ a: 'x', b: 'y' }],
  };
  expect(prune(value, schema)).toEqual(['embedded.spec', 'list[0].b', 'open.in.gone', 'other']);
  expect(value).toEqual({
    apiVersion: 'v1',
    metadata: { name: 'x' },
    open: { anything: 1, in: {} },
    embedded: { apiVersion: 'v1', kind: 'X', metadata: {} },
    list: [{ a: 'x' }],
  });
});

describe('types of lists', () => {
  const set: Schema = { type: 'array', 'x-kubernetes-list-type': 'set' };
  const map: Schema = { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
  const within: Schema = { type: 'object', properties: { set, maps: { type: 'array', items: map } } };

  test.each<[Schema, Json, string[]]>([
    [set, ['x', 'x', 'x', 'y', 'y'], ['a[1]: Duplicate value: "x"', 'a[4]: Duplicate value: "y"']],
    [set, ['x', 'y'], []],
    [map, [{ k: 1, v: 1 }, { k: 1 }], ['a[1]: Duplicate value: {"k":1}']],
    [map, [{ k: 1 }, []], ['a[1]: Invalid value: []: must be an object for an array of list-type map']],
    [
      within,
      { set: ['x', 'x'], maps: [[], [{}, {}]] },
      ['a.set[1]: Duplicate value: "x"', 'a.maps[1][1]: Duplicate value: {}'],
    ],
    [{ type: 'array' }, ['x', 'x'], []],
  ])('%j: %j', (schema, value, problems) => {
    const causes = validateListTypes({ a: value }, { properties: { a: schema } });
    expect(causes.map(({ field, message }) => `${field}: ${message}`)).toEqual(problems);
  });

  test('an update of an object that has duplicates may have more', () => {
    expect(validateListTypes({ set: ['x', 'x', 'y', 'y'] }, within, { old: { set: ['x', 'x'] } })).toEqual([]);
    expect(validateListTypes({ set: ['x', 'x'] }, within, { old: { set: ['x'] } })).toHaveLength(1);
  });
});

describe('what an update leaves as it was is not judged', () => {
  const item: Schema = { type: 'object', required: ['v'], properties: { k: { type: 'string' }, v: { minLength: 1 } } };
  const schema: Schema = {
    type: 'object',
    properties: {
      text: { type: 'string', maxLength: 1 },
      list: { type: 'array', items: item },
      map: { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
      names: { type: 'object', additionalProperties: { type: 'string', enum: ['x'] } },
    },
  };
  test.each<[title: string, old: Json, now: Json, fields: string[]]>([
    ['a field beside others that change', { text: 'xy' }, { text: 'xy', list: [] }, []],
    ['a field that changes', { text: 'xy' }, { text: 'xyz' }, ['text']],
    ['a list as a whole', { list: [{ k: 'a' }] }, { list: [{ k: 'a' }] }, []],
    ['an item of a list that changes', { list: [{ k: 'a' }] }, { list: [{ k: 'a' }, { v: 'x' }] }, ['list[0].v']],
    [
      'an item with keys',
      { map: [{ k: 'a', v: '' }] },
      {
        map: [
          { k: 'b', v: '' },
          { k: 'a', v: '' },
        ],
      },
      ['map[0].v'],
    ],
    ['the value of a key', { names: { a: 'y' } }, { names: { a: 'y', b: 'z' } }, ['names.b']],
    ['nothing of a new object', {}, { text: 'xy' }, ['text']],
  ])('%s', (_title, old, now, fields) => {
    expect(validateSchema(now, schema, { old }).map(({ field }) => field)).toEqual(fields);
  });
});
