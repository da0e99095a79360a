import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { maxCauses } from '../../../src/kubernetes/schema/index.ts';
import { type Sandbox, type SandboxEvent, startSandbox } from '../../../src/sandbox/index.ts';
import { limitWork } from '../../support/work.ts';
import { send } from '../client.ts';

const events: SandboxEvent[] = [];
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ log: (event) => events.push(event) });
});
afterAll(() => sandbox.stop());

const maps = '/api/v1/namespaces/default/configmaps?dryRun=All';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function many(count: number, key: (index: number) => string, value: Json): JsonObject {
  const made: JsonObject = {};
  for (let index = 0; index < count; index++) {
    made[key(index)] = value;
  }
  return made;
}

function definition(schema: JsonObject): JsonObject {
  return {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

const name = 'n'.repeat(100_000);
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const text = { type: 'string' };

// Each is answered with the maximum number of causes, not with a sandbox error, and does not take minutes or gigabytes.
test.each<[string, string, JsonObject]>([
  ['very many invalid labels', maps, { metadata: { name: 'a', labels: many(5_000, (index) => `_${index}`, 'a') } }],
  [
    'very many fields without a type',
    `${definitions}?dryRun=All`,
    definition({ type: 'object', properties: many(5_000, (index) => `p${index}`, {}) }),
  ],
  [
    'a default with very many unknown fields',
    `${definitions}?dryRun=All`,
    definition({
      type: 'object',
      properties: { a: { type: 'object', default: many(5_000, (index) => `k${index}`, 1) } },
    }),
  ],
  [
    'alternatives below a property with a very long name',
    `${definitions}?dryRun=All`,
    definition({
      type: 'object',
      properties: {
        [name]: {
          type: 'object',
          properties: many(1_500, (index) => `p${index}`, text),
          anyOf: [{ properties: many(1_500, (index) => `q${index}`, { title: 'x' }) }],
        },
      },
    }),
  ],
])('%s', { timeout: 120_000 }, async (_name, path, body) => {
  using _work = limitWork(3_000);
  const answer = await send(sandbox, 'POST', path, { body });
  expect(answer.status, answer.text.slice(0, 500)).toBe(422);
  expect(((answer.json.details as JsonObject).causes as object[]).length).toBeLessThanOrEqual(maxCauses);
  expect(answer.text.length).toBeLessThan(1024 * 1024);
  expect(events.filter(({ event }) => event === 'bug')).toEqual([]);
});

test('a huge number of unknown fields below a very long key causes short warnings', { timeout: 120_000 }, async () => {
  const thing = { type: 'object', properties: { a: { type: 'object', additionalProperties: { type: 'object' } } } };
  await send(sandbox, 'POST', definitions, {
    body: definition({ ...thing, properties: { ...thing.properties, open } }),
  });
  await expect.poll(async () => (await send(sandbox, 'GET', '/apis/example.com/v1/things')).status).toBe(200);
  const body = { metadata: { name: 'a' }, a: { [name]: many(2_000, (index) => `k${index}`, 1) } };
  const answer = await send(sandbox, 'POST', '/apis/example.com/v1/things?fieldValidation=Strict', { body });
  expect(answer.status).toBe(400);
  expect(answer.json.message).toContain(`unknown field "a.${'n'.repeat(512)}….k0"`);
  expect(answer.text.length).toBeLessThan(1024 * 1024);
});
