import { expect, test } from 'vitest';
import type { Schema } from '../../../src/kubernetes/schema/index.ts';
import { compilePattern, structuralCauses, validateSchema } from '../../../src/kubernetes/schema/index.ts';
import { limitWork, sized } from '../../support/work.ts';

// Without a sandbox in this process: these calculate for seconds, while the connections to one would time out.

test.each<[string, string, boolean]>([
  ['^[a-z]{1,63}(\\.[a-z]{1,63})*$', 'a.b.c', true],
  ['(?i)^ABC$', 'abc', true],
  ['\\pN', '٣', true],
  ['^\\z', 'a', false],
  ['(?P<name>a)', 'xax', true],
  ['^(a|b){2,3}$', 'abab', false],
])('%s is interpreted as by RE2', (pattern, text, matches) => {
  expect(compilePattern(pattern).test(text)).toBe(matches);
});

const manyFields = Object.fromEntries(Array.from({ length: sized(50_000) }, (_, i) => [`p${i}`, 1]));

test.each<[string, unknown, object]>([
  [
    'an enum of many values',
    Array(2_000).fill('x'),
    { items: { enum: Array.from({ length: 2_000 }, (_, i) => `${i}`) } },
  ],
  [
    'alternatives within alternatives',
    Array(sized(5_000)).fill({}),
    { items: { anyOf: Array.from({ length: 2_000 }, () => ({ required: ['a'] })) } },
  ],
  ['a large pattern and a long text', 'xyxxyyxy'.repeat(40_000), { pattern: '^[xy]*x[xy]{900}$' }],
  [
    'many properties',
    Array(2_000).fill({}),
    { items: { properties: Object.fromEntries(Array.from({ length: sized(2_000) }, (_, i) => [`p${i}`, {}])) } },
  ],
  ...(
    [
      ['many fields', { minProperties: 100_000 }],
      ['many fields, where no object is allowed', { enum: [1] }],
      ['many fields, where another object is allowed', { enum: [{}] }],
    ] as const
  ).map(([name, branch]): [string, unknown, object] => [
    `alternatives for a value of ${name}`,
    manyFields,
    { anyOf: Array.from({ length: sized(5_000) }, () => branch) },
  ]),
  [
    'alternatives for a long text',
    'x'.repeat(1e6),
    { anyOf: Array.from({ length: sized(5_000) }, () => ({ minLength: 1e7 })) },
  ],
])('%s: the work for one object is limited', (_name, value, schema) => {
  using _work = limitWork(2_000);
  // A fortieth of what a sandbox does.
  const work = { left: 250_000 };
  validateSchema(value as never, schema as Schema, { work });
  expect(work.left).toBeLessThan(250_000);
});

test('the same limit applies in a sandbox', () => {
  // The cost of a pattern is known before it runs.
  const schema = { items: { pattern: '^[xy]*x[xy]{900}$' } } as Schema;
  expect(validateSchema(['xyxx'], schema)).toEqual([expect.objectContaining({ field: '[0]' })]);
  const [cause, ...others] = validateSchema(['xyxxyyxy'.repeat(40_000)], schema);
  expect(cause?.message).toContain('takes too much work to validate');
  expect(others).toEqual([]);
});

test('too many patterns are rejected', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [`p${i}`, { type: 'string', pattern: `${i}x{1000}x{1000}x{1000}x{1000}` }]),
  );
  // What the definition's other versions have left: few more are too many.
  const [cause, ...others] = structuralCauses({ type: 'object', properties }, 'schema', { left: 1_000_000 });
  expect(cause?.message).toContain('the patterns of the schema are too large');
  expect(others).toEqual([]);
});

// With a search through the required fields for each key, a megabyte took a minute.
test('a key of a list that is named often is checked once', () => {
  const items = {
    type: 'object',
    required: [...Array<string>(100_000).fill('b'), 'a'],
    properties: { a: { type: 'string' } },
  };
  const keys = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': Array<string>(100_000).fill('a') };
  const schema = { type: 'object', properties: { list: { type: 'array', items, ...keys } } };
  using _work = limitWork(2_000);
  expect(structuralCauses(schema, 's').map(({ field }) => field)).toEqual([
    's.properties[list].x-kubernetes-list-map-keys',
  ]);
});
