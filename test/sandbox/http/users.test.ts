import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { impersonated } from '../../../src/sandbox/http/impersonation.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { eventually, send, startAgreeingWebhook } from '../client.ts';

const admin = { username: 'sandbox-admin', groups: ['system:masters', 'system:authenticated'] };

test.each<[string, Record<string, string[]>, object]>([
  ['no user', {}, admin],
  ['a user', { 'impersonate-user': ['jane'] }, { username: 'jane', groups: ['system:authenticated'] }],
  [
    'a user with groups',
    { 'impersonate-user': ['jane'], 'impersonate-group': ['a', 'b,c'] },
    { username: 'jane', groups: ['a', 'b,c', 'system:authenticated'] },
  ],
  [
    'a service account',
    { 'impersonate-user': ['system:serviceaccount:kube-system:namespace-controller'] },
    {
      username: 'system:serviceaccount:kube-system:namespace-controller',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
    },
  ],
  [
    'the anonymous user',
    { 'impersonate-user': ['system:anonymous'] },
    { username: 'system:anonymous', groups: ['system:unauthenticated'] },
  ],
  [
    'a user with a uid and more',
    { 'impersonate-user': ['jane'], 'impersonate-uid': ['7'], 'impersonate-extra-a%2fb': ['c', 'd'] },
    { username: 'jane', groups: ['system:authenticated'], uid: '7', extra: { 'a/b': ['c', 'd'] } },
  ],
])('headers that impersonate %s', (_name, headersDistinct, user) => {
  expect(impersonated({ headersDistinct }, admin)).toEqual(user);
});

describe('a request', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox();
  });
  afterAll(() => sandbox.stop());

  test('with groups but without a user is rejected', async () => {
    const { status, json } = await send(sandbox, 'GET', '/api/v1/namespaces', {
      headers: { 'impersonate-group': 'system:masters' },
    });
    expect(status).toBe(500);
    expect(json.message).toContain('without impersonating a user');
  });

  test('is reported to webhooks with its user', async () => {
    const users: unknown[] = [];
    const webhook = await startAgreeingWebhook((_url, { request }) => {
      users.push((request as JsonObject).userInfo);
      return undefined;
    });
    const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
    // As in the manifests, for system accounts.
    const matchConditions = [{ name: 'not-system', expression: "!request.userInfo.username.startsWith('system:')" }];
    const shared = {
      name: 'a.example.com',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      rules,
      matchConditions,
    };
    const clientConfig = { url: webhook.url, caBundle: webhook.caBundle };
    await send(sandbox, 'POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
      body: { metadata: { name: 'a' }, webhooks: [{ ...shared, clientConfig }] },
    });
    for (const [index, user] of ['jane', 'system:kube-controller-manager'].entries()) {
      const { status } = await send(sandbox, 'POST', '/api/v1/namespaces/default/configmaps', {
        body: { metadata: { name: `a${index}` } },
        headers: { 'impersonate-user': user, 'impersonate-group': 'team' },
      });
      expect(status).toBe(201);
    }
    expect(users).toEqual([{ username: 'jane', groups: ['team', 'system:authenticated'] }]);
    await webhook.stop();
  });
});

test('a Service of type ExternalName redirects webhook calls to its name', async () => {
  const sandbox = await startSandbox();
  const urls: string[] = [];
  const webhook = await startAgreeingWebhook((url) => {
    urls.push(url);
    return undefined;
  });
  const service = { namespace: 'default', name: 'localhost-alias', port: webhook.port, path: '/here' };
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
  const shared = { name: 'a.example.com', admissionReviewVersions: ['v1'], sideEffects: 'None', rules };
  await send(sandbox, 'POST', '/api/v1/namespaces/default/services', {
    body: { metadata: { name: service.name }, spec: { type: 'ExternalName', externalName: 'localhost' } },
  });
  await send(sandbox, 'POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    body: { metadata: { name: 'a' }, webhooks: [{ ...shared, clientConfig: { service, caBundle: webhook.caBundle } }] },
  });
  const write = () =>
    send(sandbox, 'POST', '/api/v1/namespaces/default/configmaps', { body: { metadata: { generateName: 'a-' } } });
  // It is called, but its certificate is for localhost, and verified for the name of the Service.
  const { json } = await write();
  expect(json.message).toContain('localhost-alias.default.svc');
  expect(json.message).not.toContain('no endpoints available');
  expect(urls).toEqual([]);
  await send(sandbox, 'DELETE', `/api/v1/namespaces/default/services/${service.name}`);
  expect((await write()).json.message).toContain('no endpoints available');
  await webhook.stop();
  await sandbox.stop();
});

test('requests for objects of a new definition get a 429 at first, if configured', async () => {
  const sandbox = await startSandbox({ initializing: 500 });
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
  const names = { plural: 'as', kind: 'A' };
  await send(sandbox, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: { metadata: { name: 'as.example.com' }, spec: { group: 'example.com', scope: 'Cluster', names, versions } },
  });
  const list = () => send(sandbox, 'GET', '/apis/example.com/v1/as');
  const { headers, json } = await eventually(list, ({ status }) => status !== 404);
  expect(headers['retry-after']).toBe('1');
  expect(json).toMatchObject({
    code: 429,
    reason: 'TooManyRequests',
    message: 'storage is (re)initializing',
    details: { retryAfterSeconds: 1 },
  });
  await eventually(list, ({ status }) => status === 200);
  await sandbox.stop();
});
