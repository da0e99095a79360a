import { expect, test } from 'vitest';
import type { Json } from '../../../src/kubernetes/index.ts';
import type { Schema } from '../../../src/kubernetes/schema/index.ts';
import { canCheck, fits, tightened } from '../../../src/runtimehooks/versions/limits.ts';

test.each<[string, Schema, Json[], Json[]]>([
  ['minimum', { type: 'integer', minimum: 2 }, [2, 3], [1, -1]],
  ['maximum', { type: 'integer', maximum: 2 }, [2, -5], [3]],
  ['minLength, in code points', { type: 'string', minLength: 2 }, ['ab', '𝒳𝒳'], ['', 'a', '𝒳']],
  ['maxLength, in code points', { type: 'string', maxLength: 2 }, ['', 'ab', '𝒳𝒳'], ['abc', '𝒳𝒳𝒳']],
  ['pattern', { type: 'string', pattern: '^a+$' }, ['a', 'aa'], ['', 'b', 'ab']],
  ['pattern, in code points', { type: 'string', pattern: '^.$' }, ['𝒳'], ['ab']],
  ['pattern and length', { type: 'string', pattern: '^a', maxLength: 2 }, ['a', 'ab'], ['abc', 'b']],
  ['enum', { type: 'string', enum: ['a', 'b'] }, ['a', 'b'], ['c', '']],
  ['enum of another type than the value', { type: 'string', enum: ['a'] }, [1, null, ['b']], []],
  ['minItems', { type: 'array', minItems: 1 }, [[1], [1, 2]], [[]]],
  ['maxItems', { type: 'array', maxItems: 1 }, [[], [1]], [[1, 2]]],
  ['minProperties', { type: 'object', minProperties: 1 }, [{ a: 1 }], [{}]],
  ['maxProperties', { type: 'object', maxProperties: 1 }, [{}, { a: 1 }], [{ a: 1, b: 2 }]],
  [
    'values of other types',
    { minimum: 5, minLength: 5, minItems: 5, minProperties: 5 },
    [null, true],
    [4, 'abcd', [], {}],
  ],
  ['no limits', {}, [0, '', [], {}, null], []],
])('fits: %s', (_, schema, within, beyond) => {
  expect(within.filter((value) => !fits(value, schema))).toEqual([]);
  expect(beyond.filter((value) => fits(value, schema))).toEqual([]);
});

test.each<[string, Schema, Schema, string[]]>([
  ['nothing', {}, {}, []],
  [
    'the same',
    { minimum: 1, maxLength: 2, pattern: 'a', enum: ['a'] },
    { minimum: 1, maxLength: 2, pattern: 'a', enum: ['a'] },
    [],
  ],
  [
    'new lower limits',
    {},
    { minimum: 0, minLength: 1, minItems: 1, minProperties: 1 },
    ['minimum', 'minLength', 'minItems', 'minProperties'],
  ],
  [
    'new upper limits',
    {},
    { maximum: 0, maxLength: 1, maxItems: 1, maxProperties: 1 },
    ['maximum', 'maxLength', 'maxItems', 'maxProperties'],
  ],
  ['raised and lowered', { minimum: 1, maximum: 9 }, { minimum: 2, maximum: 8 }, ['minimum', 'maximum']],
  ['looser limits', { minimum: 1, maximum: 9, maxLength: 3 }, { minimum: 0, maximum: 10 }, []],
  ['a new enum', {}, { enum: ['a'] }, ['enum']],
  ['a smaller enum', { enum: ['a', 'b'] }, { enum: ['a'] }, ['enum']],
  ['a larger enum', { enum: ['a'] }, { enum: ['a', 'b'] }, []],
  ['a removed enum', { enum: ['a'] }, {}, []],
  ['a new pattern and format', {}, { pattern: 'a', format: 'byte' }, ['pattern', 'format']],
  ['another pattern', { pattern: 'a' }, { pattern: 'b' }, ['pattern']],
  ['a removed pattern', { pattern: 'a', format: 'byte' }, {}, []],
  ['no longer nullable', { nullable: true }, {}, ['nullable']],
  ['newly nullable', {}, { nullable: true }, []],
  ['still nullable', { nullable: true }, { nullable: true }, []],
])('tightened: %s', (_, from, to, keywords) => {
  expect(tightened(from, to)).toEqual(keywords);
});

test('keywords that fits cannot check are not used to drop values', () => {
  expect(['minimum', 'pattern', 'enum', 'format', 'nullable'].filter(canCheck)).toEqual(['minimum', 'pattern', 'enum']);
});
