import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { registerAsCaptured, send, startAgreeingWebhook } from '../client.ts';

interface Call {
  url: string;
  body: JsonObject;
}

function captured(name: string): Call & { headers: Record<string, string> } {
  return JSON.parse(
    readFileSync(new URL(`../../support/fixtures/webhook-calls/${name}.json`, import.meta.url), 'utf8'),
  );
}

/** Replaces values that differ from run to run by their type, and removes what the sandbox does not support. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(comparable);
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => key !== 'managedFields' && key !== 'extra')
        .map(([key, item]) => {
          const isVolatile = ['uid', 'resourceVersion', 'creationTimestamp', 'username', 'time'].includes(key);
          return [key, isVolatile ? typeof item : comparable(item)];
        }),
    );
  }
  return value;
}

const group = '/apis/runtime.cluster.x-k8s.io';
const name = 'my-amazing-extensions';
const calls: (Call & { headers: Record<string, unknown> })[] = [];
let sandbox: Sandbox;
let webhook: Awaited<ReturnType<typeof startAgreeingWebhook>>;

beforeAll(async () => {
  webhook = await startAgreeingWebhook((url, body, headers) => {
    calls.push({ url, body: structuredClone(body), headers });
    return undefined;
  });
  sandbox = await startSandbox();
  await registerAsCaptured(sandbox, webhook);
});

afterAll(async () => {
  await sandbox.stop();
  await webhook.stop();
});

beforeEach(() => send(sandbox, 'DELETE', `${group}/v1beta2/extensionconfigs/${name}`));

function objectOf(call: Call, field: 'object' | 'oldObject'): JsonObject {
  const object = structuredClone((call.body.request as Record<string, JsonObject>)[field] as JsonObject);
  const { annotations, name } = object.metadata as JsonObject;
  object.metadata = { name: name as string, annotations: annotations as JsonObject };
  return object;
}

// One sequence, in the order in which it was captured; each write causes the calls that were captured for it.
const story = [
  {
    write: 'create',
    expected: ['create-mutate', 'create-validate'],
    request: () => ({
      method: 'POST',
      path: '/v1beta2/extensionconfigs?fieldManager=kubectl-client-side-apply&fieldValidation=Strict',
      body: objectOf(captured('create-mutate'), 'object'),
    }),
  },
  {
    write: 'update in the old version',
    expected: ['update-written-as-v1alpha1-mutate'],
    request: () => ({
      method: 'PATCH',
      path: `/v1alpha1/extensionconfigs/${name}?fieldManager=kubectl-client-side-apply&fieldValidation=Strict`,
      body: { ...objectOf(captured('update-written-as-v1alpha1-mutate'), 'object'), apiVersion: undefined },
    }),
  },
  {
    write: 'update as a dry run',
    expected: ['update-dry-run-mutate'],
    request: () => ({
      method: 'PATCH',
      path: `/v1beta2/extensionconfigs/${name}?dryRun=All&fieldManager=kubectl-client-side-apply&fieldValidation=Strict`,
      body: objectOf(captured('update-dry-run-mutate'), 'object'),
    }),
  },
  {
    write: 'status',
    expected: ['update-status-validate'],
    request: () => ({
      method: 'PATCH',
      path: `/v1beta2/extensionconfigs/${name}/status?fieldManager=kubectl-patch`,
      body: { status: objectOf(captured('update-status-validate'), 'object').status },
    }),
  },
  {
    write: 'delete',
    expected: ['delete-validate'],
    request: () => ({
      method: 'DELETE',
      path: `/v1beta2/extensionconfigs/${name}`,
      body: { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' },
    }),
  },
];

function write({ request }: (typeof story)[number]) {
  const { method, path, body } = request();
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  return send(sandbox, method, `${group}${path}`, { body, headers: { 'content-type': type } });
}

test.each(story)('$write: webhooks receive what a kube-apiserver sent', async (step) => {
  for (const earlier of story.slice(0, story.indexOf(step))) {
    await write(earlier);
  }
  calls.length = 0;
  const answer = await write(step);
  expect(answer.status, answer.text).toBeLessThan(300);
  const admission = calls.filter(({ url }) => !url.startsWith('/convert'));
  for (const capture of step.expected.map(captured)) {
    const call = admission.find(({ url }) => url === capture.url);
    expect(comparable(call?.body)).toEqual(comparable(capture.body));
    const { 'user-agent': agent, accept, 'content-type': contentType } = capture.headers;
    expect(call?.headers).toMatchObject({ 'user-agent': agent, accept, 'content-type': contentType });
  }
});

test.each([
  'conversion-to-v1alpha1',
  'conversion-to-v1beta2',
])('%s: the request has the captured form', async (capture) => {
  const { url, body } = captured(capture);
  const { desiredAPIVersion, objects } = body.request as { desiredAPIVersion: string; objects: JsonObject[] };
  const path = (apiVersion: unknown) => `/apis/${String(apiVersion)}/extensionconfigs`;
  const object = structuredClone(objects[0]) as JsonObject;
  const { name = '', annotations = {} } = object.metadata as JsonObject;
  object.metadata = { name, annotations };
  calls.length = 0;
  const made = await send(sandbox, 'POST', path(object.apiVersion), { body: object });
  expect(made.status, made.text).toBe(201);
  await send(sandbox, 'GET', `${path(desiredAPIVersion)}/${String(name)}`);
  await send(sandbox, 'DELETE', `${path(desiredAPIVersion)}/${String(name)}`);
  const asked = calls.filter((call) => {
    const request = call.body.request as JsonObject;
    return call.url === url && request.desiredAPIVersion === desiredAPIVersion;
  });
  expect(asked.length).toBeGreaterThan(0);
  for (const call of asked) {
    const { response, ...review } = call.body;
    expect(Object.keys(review)).toEqual(['kind', 'apiVersion', 'request']);
    expect(Object.keys(review.request as JsonObject)).toEqual(Object.keys(body.request as JsonObject));
    expect(response).toEqual(body.response);
  }
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
