import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { JsonObject, StatusCause } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { send } from '../client.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

const configurations = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
const configuration = {
  metadata: { name: 'a' },
  webhooks: [
    {
      name: 'a.example.com',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      clientConfig: { service: { namespace: 'a', name: 'b' } },
      rules: [{ apiGroups: ['none.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothing'] }],
    },
  ],
};

function set(object: JsonObject, path: string, value: unknown): JsonObject {
  const keys = path.split('.');
  const last = keys.pop() as string;
  const holder = keys.reduce((at, key) => at[key] as JsonObject, object);
  if (value === undefined) {
    delete holder[last];
  } else {
    holder[last] = value as never;
  }
  return object;
}

/** What an API server refuses: where, with which reason. */
const causesOf = ({ json }: { json: JsonObject }) =>
  ((json.details as { causes?: StatusCause[] } | undefined)?.causes ?? []).map(({ field, reason }) => [
    field,
    reason.replace('FieldValue', ''),
  ]);

test.each<[field: string, value: unknown, causedAt: string, reason: string]>([
  ['webhooks.0.sideEffects', undefined, 'webhooks[0].sideEffects', 'Required'],
  ['webhooks.0.reinvocationPolicy', 'Twice', 'webhooks[0].reinvocationPolicy', 'NotSupported'],
  ['webhooks.0.rules.0.operations', ['PATCH'], 'webhooks[0].rules[0].operations[0]', 'NotSupported'],
  ['webhooks.0.rules.0.apiGroups', ['*', 'apps'], 'webhooks[0].rules[0].apiGroups', 'Invalid'],
  ['webhooks.0.clientConfig.service.port', 0, 'webhooks[0].clientConfig.service.port', 'Invalid'],
  [
    'webhooks.0.objectSelector',
    { matchExpressions: [{ key: 'a', operator: 'Is' }] },
    'webhooks[0].objectSelector.matchExpressions[0].operator',
    'NotSupported',
  ],
  [
    'metadata.ownerReferences',
    [{ apiVersion: 'v1', kind: 'Pod', name: 'a' }],
    'metadata.ownerReferences[0].uid',
    'Required',
  ],
])('an invalid field of a webhook configuration: %s = %j', async (field, value, causedAt, reason) => {
  const body = set(structuredClone(configuration) as unknown as JsonObject, field, value);
  const answer = await send(sandbox, 'POST', configurations, { body });
  expect(answer.json, answer.text).toMatchObject({ code: 422, reason: 'Invalid' });
  expect(causesOf(answer)).toContainEqual([causedAt, reason]);
});

test('only the types of other kinds are checked, and quantities may be numbers', async () => {
  const path = '/apis/apps/v1/namespaces/default/deployments';
  const resources = { limits: { cpu: 0.5, memory: '128Mi' } };
  const spec = { replicas: -1, template: { spec: { containers: [{ name: 'a', resources }] } } };
  const stored = await send(sandbox, 'POST', path, { body: { metadata: { name: 'a' }, spec } });
  expect([stored.status, stored.json.spec]).toEqual([201, spec]);
  const wrong = await send(sandbox, 'POST', path, { body: { metadata: { name: 'b' }, spec: { replicas: 'x' } } });
  expect(wrong.json).toMatchObject({ code: 400, reason: 'BadRequest' });
});

test('rules of a definition are evaluated unless the object lacks their shape, which the response says', async () => {
  const spec = {
    type: 'object',
    required: ['size'],
    properties: { size: { type: 'integer', maximum: 5 }, name: { type: 'string', minLength: 3 } },
    'x-kubernetes-validations': [{ rule: 'self.size != 4', message: 'not four' }],
  };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const definition = {
    metadata: { name: 'ruled.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'ruled', kind: 'Ruled' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
  const path = '/apis/example.com/v1/ruled';
  await send(sandbox, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition });
  await vi.waitFor(async () => expect((await send(sandbox, 'GET', path)).status).toBe(200), { timeout: 30_000 });
  const create = async (fields: object) =>
    causesOf(await send(sandbox, 'POST', path, { body: { metadata: { name: 'a' }, spec: fields } }));
  expect(await create({ size: 4, name: 'a' })).toEqual([
    ['spec.name', 'Invalid'],
    ['spec', 'Invalid'],
  ]);
  expect(await create({ name: 'a' })).toEqual([
    ['spec.name', 'Invalid'],
    ['spec.size', 'Required'],
    ['<nil>', 'Invalid'],
  ]);
});
