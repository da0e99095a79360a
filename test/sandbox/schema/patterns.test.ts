import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { compilePattern } from '../../../src/sandbox/schema/pattern.ts';
import type { Schema } from '../../../src/sandbox/schema/schema.ts';
import { validateSchema } from '../../../src/sandbox/schema/schema-validation.ts';
import { structuralCauses } from '../../../src/sandbox/schema/structural.ts';
import { cpuTimeMs } from '../../tools/cpu-time.ts';
import { eventually, send } from '../client.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

function define(plural: string, spec: object) {
  const kind = plural.toUpperCase();
  const openAPIV3Schema = { type: 'object', properties: { spec } };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }];
  const group = 'patterns.example.com';
  return send(sandbox, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: {
      metadata: { name: `${plural}.${group}` },
      spec: { group, scope: 'Cluster', names: { plural, kind }, versions },
    },
  });
}

test('a pattern that backtracks elsewhere takes linear time', async () => {
  const items = { type: 'string', pattern: '^(a+)+$' };
  expect((await define('as', { type: 'array', items })).status).toBe(201);
  const path = '/apis/patterns.example.com/v1/as';
  await eventually(
    () => send(sandbox, 'GET', path),
    ({ status }) => status === 200,
  );
  const started = cpuTimeMs();
  const long = `${'a'.repeat(100_000)}!`;
  const { json } = await send(sandbox, 'POST', path, { body: { metadata: { name: 'a' }, spec: [long, 'aa'] } });
  expect(json).toMatchObject({ code: 422, details: { causes: [{ field: 'spec[0]', reason: 'FieldValueInvalid' }] } });
  // By backtracking: not in the age of the universe.
  expect(cpuTimeMs() - started).toBeLessThan(3_000);
});

test('defaults of a small object cannot fill the memory', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, i) => [`p${i}`, { type: 'string', default: 'x'.repeat(50) }]),
  );
  const spec = { type: 'array', items: { type: 'object', properties } };
  expect((await define('ds', spec)).status).toBe(201);
  const path = '/apis/patterns.example.com/v1/ds';
  await eventually(
    () => send(sandbox, 'GET', path),
    ({ status }) => status === 200,
  );
  const body = { metadata: { name: 'a' }, spec: Array(100_000).fill({}) };
  expect(await send(sandbox, 'POST', path, { body })).toMatchObject({
    status: 413,
    json: { reason: 'RequestEntityTooLarge', message: expect.stringContaining('its defaults are longer') },
  });
});

describe.each([
  ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
  ['\\1', 'invalid escape sequence: `\\1`'],
  ['a{1001}', 'invalid repeat count: `{1001}`'],
  ['(a', 'missing closing ): `(a`'],
  ['x{0,1000}'.repeat(100), 'expression too large'],
])('pattern %s', (pattern, why) => {
  test.each([
    ['spec.versions[0].schema.openAPIV3Schema.properties[spec].pattern', { type: 'string', pattern }],
    [
      'spec.versions[0].schema.openAPIV3Schema.properties[spec].anyOf[0].pattern',
      { type: 'string', anyOf: [{ pattern }] },
    ],
  ])('is refused with its definition at %s', async (field, schema) => {
    const { status, json } = await define('bad', schema);
    expect(status).toBe(422);
    expect(json).toMatchObject({
      details: {
        causes: [{ field, message: expect.stringContaining("must be a valid regular expression, but isn't") }],
      },
    });
    expect(JSON.stringify(json)).toContain(JSON.stringify(why).slice(1, -1));
  });
});

test.each<[string, string, boolean]>([
  ['^[a-z]{1,63}(\\.[a-z]{1,63})*$', 'a.b.c', true],
  ['(?i)^ABC$', 'abc', true],
  ['\\pN', '٣', true],
  ['^\\z', 'a', false],
  ['(?P<name>a)', 'xax', true],
  ['^(a|b){2,3}$', 'abab', false],
])('%s is read as RE2 reads it', (pattern, text, matches) => {
  expect(compilePattern(pattern).test(text)).toBe(matches);
});

test.each<[string, unknown, object]>([
  [
    'an enum of many values',
    Array(20_000).fill('x'),
    { items: { enum: Array.from({ length: 20_000 }, (_, i) => `${i}`) } },
  ],
  [
    'alternatives within alternatives',
    Array(5_000).fill({}),
    { items: { anyOf: Array.from({ length: 20_000 }, () => ({ required: ['a'] })) } },
  ],
  ['a large pattern and a long text', 'xyxxyyxy'.repeat(40_000), { pattern: '^[xy]*x[xy]{900}$' }],
  [
    'many properties',
    Array(20_000).fill({}),
    { items: { properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, {}])) } },
  ],
])('%s: the work for one object is limited', (_name, value, schema) => {
  const started = cpuTimeMs();
  validateSchema(value as never, schema as Schema);
  expect(cpuTimeMs() - started).toBeLessThan(15_000);
});

test('many patterns are too many', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [`p${i}`, { type: 'string', pattern: `${i}x{1000}x{1000}x{1000}x{1000}` }]),
  );
  const [cause, ...others] = structuralCauses({ type: 'object', properties }, 'schema');
  expect(cause?.message).toContain('too large together');
  expect(others).toEqual([]);
});
