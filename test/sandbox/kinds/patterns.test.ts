import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { limitWork } from '../../support/work.ts';
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

test('a pattern that backtracks in other engines takes linear time', async () => {
  const items = { type: 'string', pattern: '^(a+)+$' };
  expect((await define('as', { type: 'array', items })).status).toBe(201);
  const path = '/apis/patterns.example.com/v1/as';
  await eventually(
    () => send(sandbox, 'GET', path),
    ({ status }) => status === 200,
  );
  // By backtracking: not in the age of the universe.
  using _work = limitWork(3_000);
  const long = `${'a'.repeat(100_000)}!`;
  const { json } = await send(sandbox, 'POST', path, { body: { metadata: { name: 'a' }, spec: [long, 'aa'] } });
  expect(json).toMatchObject({ code: 422, details: { causes: [{ field: 'spec[0]', reason: 'FieldValueInvalid' }] } });
});

test('defaults of a small object cannot fill the memory', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 200 }, (_, i) => [`p${i}`, { type: 'string', default: 'x'.repeat(500) }]),
  );
  const spec = { type: 'array', items: { type: 'object', properties } };
  expect((await define('ds', spec)).status).toBe(201);
  const path = '/apis/patterns.example.com/v1/ds';
  await eventually(
    () => send(sandbox, 'GET', path),
    ({ status }) => status === 200,
  );
  const body = { metadata: { name: 'a' }, spec: Array(5_000).fill({}) };
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
  ])('is rejected in a definition at %s', async (field, schema) => {
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
