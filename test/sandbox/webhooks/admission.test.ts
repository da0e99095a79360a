import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, type SandboxEvent, startSandbox } from '../../../src/sandbox/index.ts';
import { selfSignedPair } from '../../../src/server/index.ts';
import { exampleCaBundle } from '../../policy/rules/examples.ts';
import { send } from '../client.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const { cert, key } = selfSignedPair(new Date());

interface Answer {
  code?: number;
  text: string;
  isCompressed?: boolean;
}

let sandbox: Sandbox;
let server: Server;
let events: SandboxEvent[];
/** Paths that were called, in order. */
let asked: string[];
/** The response of each path: a status code and a text made from the review, or none at all. */
let answers: Record<string, (review: JsonObject) => Answer | undefined>;

beforeAll(async () => {
  server = createServer({ cert, key }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
    }
    const path = request.url?.split('?')[0]?.slice(1) ?? '';
    asked.push(path);
    const review = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
    const answer = (answers[path] ?? ((given) => reviewed(given, { allowed: true })))(review);
    if (answer !== undefined) {
      const { code = 200, text, isCompressed = false } = answer;
      const encoding = isCompressed ? { 'content-encoding': 'gzip' } : {};
      response.writeHead(code, { 'content-type': 'application/json', ...encoding });
      response.end(isCompressed ? gzipSync(text) : text);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  sandbox = await startSandbox({ log: (event) => events.push(event) });
});
beforeEach(() => {
  events = [];
  asked = [];
  answers = {};
});
// State that must not affect the next test, the webhooks first: otherwise they would be called for the other deletions.
afterEach(async () => {
  for (const kind of ['mutating', 'validating']) {
    const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`;
    expect((await send(sandbox, 'DELETE', path)).status).toBe(200);
  }
  expect((await send(sandbox, 'DELETE', maps)).status).toBe(200);
});
afterAll(async () => {
  await sandbox.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function reviewed(review: JsonObject, response: JsonObject): Answer {
  const { uid = '' } = review.request as JsonObject;
  return { text: JSON.stringify({ apiVersion: review.apiVersion, kind: review.kind, response: { uid, ...response } }) };
}

function patchOf(operations: object[]): JsonObject {
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') };
}

async function configure(kind: 'mutating' | 'validating', name: string, fields: object = {}): Promise<void> {
  const { port } = server.address() as AddressInfo;
  const webhook = {
    name: `${name}.example.com`,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    clientConfig: {
      url: `https://127.0.0.1:${port}/${name}`,
      caBundle: Buffer.from(cert).toString('base64'),
    },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
    ...fields,
  };
  const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`;
  const { status, text } = await send(sandbox, 'POST', path, { body: { metadata: { name }, webhooks: [webhook] } });
  expect(status, text).toBe(201);
}

function create(name = 'one', fields: object = {}) {
  return send(sandbox, 'POST', maps, { body: { metadata: { name }, ...fields } });
}

test('rules select by operation, group, version, resource and scope', async () => {
  for (const [name, fields] of Object.entries({
    'its-operation': { operations: ['CREATE'] },
    'other-operation': { operations: ['DELETE'] },
    'every-group-and-version': { apiGroups: ['*'], apiVersions: ['*'] },
    'other-group': { apiGroups: ['apps'] },
    'every-resource': { resources: ['*'] },
    'every-resource-and-subresource': { resources: ['*/*'] },
    // As kube-apiserver matches, although its documentation says that these are only subresources.
    'all-of-it': { resources: ['configmaps/*'] },
    'other-subresource': { resources: ['configmaps/status'] },
    'its-scope': { scope: 'Namespaced' },
    'other-scope': { scope: 'Cluster' },
  })) {
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'], ...fields };
    await configure('validating', name, { rules: [rule] });
  }
  await create();
  expect(asked.toSorted()).toEqual([
    ...['all-of-it', 'every-group-and-version', 'every-resource', 'every-resource-and-subresource'],
    ...['its-operation', 'its-scope'],
  ]);
});

test("a caBundle that did not sign the webhook's certificate is named, without Node.js' hint to trust the system", async () => {
  const { port } = server.address() as AddressInfo;
  await configure('validating', 'a', {
    clientConfig: { url: `https://127.0.0.1:${port}/a`, caBundle: exampleCaBundle },
  });
  const { status, text } = await create();
  expect(status, text).toBe(500);
  expect(text).toContain('failed calling webhook');
  expect(text).toContain('certificate');
  expect(text).not.toContain('system-ca');
});

test('namespaces are selected by their labels, and by their name', async () => {
  await send(sandbox, 'POST', '/api/v1/namespaces', { body: { metadata: { name: 'marked', labels: { mark: 'x' } } } });
  await configure('validating', 'marked', { namespaceSelector: { matchLabels: { mark: 'x' } } });
  await configure('validating', 'named', {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } },
  });
  await create();
  expect(asked).toEqual(['named']);
  await send(sandbox, 'POST', '/api/v1/namespaces/marked/configmaps', { body: { metadata: { name: 'one' } } });
  expect(asked).toEqual(['named', 'marked']);
});

test('a webhook also sees an object that leaves the selection', async () => {
  await configure('validating', 'a', { objectSelector: { matchLabels: { mark: 'x' } } });
  await create('one', { metadata: { name: 'one', labels: { mark: 'x' } } });
  await send(sandbox, 'PUT', `${maps}/one`, { body: { metadata: { name: 'one' } } });
  await send(sandbox, 'PUT', `${maps}/one`, { body: { metadata: { name: 'one' }, data: { a: 'b' } } });
  expect(asked).toEqual(['a', 'a']);
});

test('mutating webhooks are called by name; with reinvocationPolicy IfNeeded, again after a later change', async () => {
  answers.a = (review) => {
    const { data = {} } = (review.request as { object: { data?: JsonObject } }).object;
    return reviewed(review, patchOf([{ op: 'add', path: '/data', value: { ...data, a: String(Object.keys(data)) } }]));
  };
  answers.b = (review) => reviewed(review, patchOf([{ op: 'add', path: '/data/b', value: 'x' }]));
  await configure('mutating', 'b');
  await configure('mutating', 'a', { reinvocationPolicy: 'IfNeeded' });
  expect((await create()).json.data).toEqual({ a: 'a,b', b: 'x' });
  expect(asked).toEqual(['a', 'b', 'a']);
});

const labelled = (review: JsonObject) =>
  reviewed(review, patchOf([{ op: 'add', path: '/metadata/labels', value: { mark: 'x' } }]));

test.each<[string, object]>([
  ['an objectSelector', { objectSelector: { matchLabels: { mark: 'x' } } }],
  [
    'match conditions',
    {
      matchConditions: [
        { name: 'marked', expression: "has(object.metadata.labels) && 'mark' in object.metadata.labels" },
      ],
    },
  ],
])('a mutating webhook whose %s fits only what an earlier one returns is called', async (_name, fields) => {
  answers.a = labelled;
  await configure('mutating', 'a');
  await configure('mutating', 'b', fields);
  await create();
  expect(asked).toEqual(['a', 'b']);
});

test('a mutating webhook that an earlier one takes the object away from is not called', async () => {
  answers.a = (review) => reviewed(review, patchOf([{ op: 'remove', path: '/metadata/labels' }]));
  await configure('mutating', 'a');
  await configure('mutating', 'b', { objectSelector: { matchLabels: { mark: 'x' } } });
  await create('one', { metadata: { name: 'one', labels: { mark: 'x' } } });
  expect(asked).toEqual(['a']);
});

test('after a change, only webhooks that were called before are called again, if they still match', async () => {
  answers.c = labelled;
  // Not called at first, so not called again, although it matches by then.
  await configure('mutating', 'a', { objectSelector: { matchLabels: { mark: 'x' } }, reinvocationPolicy: 'IfNeeded' });
  // No longer matches when it would be called again.
  const unmarked = { matchExpressions: [{ key: 'mark', operator: 'DoesNotExist' }] };
  await configure('mutating', 'b', { objectSelector: unmarked, reinvocationPolicy: 'IfNeeded' });
  await configure('mutating', 'c', { reinvocationPolicy: 'IfNeeded' });
  await configure('mutating', 'd', { reinvocationPolicy: 'IfNeeded' });
  await create();
  // The selectors consider both states of an update, but a creation has one.
  expect(asked).toEqual(['b', 'c', 'd']);
});

test('a patch that changes nothing causes no further call', async () => {
  answers.b = (review) => reviewed(review, patchOf([{ op: 'test', path: '/metadata/name', value: 'one' }]));
  await configure('mutating', 'a', { reinvocationPolicy: 'IfNeeded' });
  await configure('mutating', 'b');
  await create();
  expect(asked).toEqual(['a', 'b']);
});

test('a webhook cannot patch an object that is being deleted', async () => {
  answers.a = labelled;
  await create();
  await configure('mutating', 'a', { failurePolicy: 'Ignore' });
  expect((await send(sandbox, 'DELETE', `${maps}/one`)).json).toMatchObject({
    code: 500,
    message:
      'Internal error occurred: admission webhook "a.example.com" attempted to modify the object, which is not supported for this operation',
  });
});

test.each<[string, object, RegExp]>([
  [
    'name',
    { op: 'replace', path: '/metadata/name', value: 'two' },
    /\(two\) does not match the name on the URL \(one\)/,
  ],
  ['namespace', { op: 'replace', path: '/metadata/namespace', value: 'kube-system' }, /namespace .* does not match/],
  [
    'kind',
    { op: 'replace', path: '/kind', value: 'Secret' },
    /its patch results in an invalid object: Secret in version/,
  ],
  ['metadata', { op: 'replace', path: '/metadata', value: 5 }, /its patch results in an invalid object: /],
  ['labels', { op: 'add', path: '/metadata/labels', value: { a: 1 } }, /its patch results in an invalid object: /],
])('a webhook cannot change the %s of an object', async (_name, operation, message) => {
  await create();
  await configure('mutating', 'a');
  answers.a = (review) => reviewed(review, patchOf([operation]));
  const changed = await send(sandbox, 'PUT', `${maps}/one`, { body: { metadata: { name: 'one' }, data: { a: 'b' } } });
  expect(changed.json.message).toMatch(message);
  expect((await send(sandbox, 'GET', `${maps}/one`)).json).toMatchObject({
    kind: 'ConfigMap',
    metadata: { name: 'one' },
  });
  expect((await send(sandbox, 'GET', `${maps}/one`)).json.data).toBeUndefined();
});

test('a webhook cannot create an object in another namespace', async () => {
  await configure('mutating', 'a');
  answers.a = (review) => reviewed(review, patchOf([{ op: 'add', path: '/metadata/namespace', value: 'kube-system' }]));
  expect((await create()).json).toMatchObject({ code: 400, message: expect.stringContaining('namespace') });
  expect((await send(sandbox, 'GET', `${maps}/one`)).status).toBe(404);
});

test.each([[1000], [600], [200], [-1], [404.5], ['x']])('a denial with the code %j is a 400', async (code) => {
  await configure('validating', 'a');
  answers.a = (review) => reviewed(review, { allowed: false, status: { code, message: 'no' } });
  const denied = await create();
  expect([denied.status, denied.json.code]).toEqual([400, 400]);
});

test('a webhook may compress its response, up to the same size', async () => {
  await configure('validating', 'a');
  answers.a = (review) => ({ ...reviewed(review, { allowed: true, warnings: ['unpacked'] }), isCompressed: true });
  const { status, headers } = await create();
  expect([status, headers.warning]).toEqual([201, '299 - "unpacked"']);
  answers.a = () => ({ text: ' '.repeat(8 * 1024 * 1024), isCompressed: true });
  expect((await create('two')).json.message).toMatch(/larger than \d+ bytes/);
});

test('webhooks are not called for webhook configurations', async () => {
  await configure('validating', 'a', {
    rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
  });
  answers.a = (review) => reviewed(review, { allowed: false });
  await configure('validating', 'b');
  expect(asked).toEqual([]);
  const denied = await create();
  expect(denied.json).toMatchObject({
    code: 400,
    message: 'admission webhook "a.example.com" denied the request without explanation',
  });
});

// Mistakes of a webhook: rejected with failurePolicy Fail, ignored with Ignore, and logged.
test.each<[string, 'mutating' | 'validating', (review: JsonObject) => Answer | undefined, RegExp]>([
  ['answers 500', 'validating', () => ({ code: 500, text: '{}' }), /the server answered with status 500/],
  ['answers no JSON', 'validating', () => ({ text: '<html>' }), /not valid JSON/],
  ['answers a list', 'validating', () => ({ text: '[]' }), /not a JSON object/],
  ['answers without a response', 'validating', () => ({ text: '{}' }), /AdmissionReview without response/],
  [
    'has a different uid',
    'validating',
    (review) => reviewed(review, { uid: 'x', allowed: true }),
    /expected response.uid=/,
  ],
  ['answers too much', 'validating', () => ({ text: ' '.repeat(8 * 1024 * 1024) }), /longer than \d+ bytes/],
  [
    'patches though it only validates',
    'validating',
    (review) => reviewed(review, patchOf([])),
    /must not return a patch/,
  ],
  [
    'patches what is not there',
    'mutating',
    (review) => reviewed(review, patchOf([{ op: 'remove', path: '/data/x' }])),
    /patch does not apply/,
  ],
  ['patches in no base64', 'mutating', (review) => reviewed(review, { allowed: true, patch: '!!' }), /JSON/],
  ['never answers', 'validating', () => undefined, /context deadline exceeded/],
])('a webhook that %s', async (name, kind, answer, message) => {
  answers.a = answer;
  // A short timeout only where it is tested: 8 MiB take longer on a busy machine.
  await configure(kind, 'a', { timeoutSeconds: name === 'never answers' ? 1 : 30 });
  const refused = await create();
  expect(refused.json).toMatchObject({ code: 500, reason: 'InternalError' });
  expect(refused.json.message).toMatch(/^Internal error occurred: failed calling webhook "a.example.com": /);
  expect(refused.json.message).toMatch(message);
});

test.each([
  'mutating',
  'validating',
] as const)('a failing %s webhook with failurePolicy Ignore is logged', async (kind) => {
  await configure(kind, 'a', { failurePolicy: 'Ignore' });
  answers.a = () => ({ code: 500, text: '' });
  expect((await create()).status).toBe(201);
  expect(events).toMatchObject([
    { event: 'failed-open', webhook: 'a.example.com', message: expect.stringMatching(/status 500/) },
  ]);
});

test.each<[string, object, string]>([
  ['name', { name: 'short' }, 'webhooks[0].name'],
  ['side effects', { sideEffects: 'Some' }, 'webhooks[0].sideEffects'],
  ['failure policy', { failurePolicy: 'Maybe' }, 'webhooks[0].failurePolicy'],
  ['review versions', { admissionReviewVersions: ['v2'] }, 'webhooks[0].admissionReviewVersions'],
  ['timeout', { timeoutSeconds: 31 }, 'webhooks[0].timeoutSeconds'],
  ['address', { clientConfig: {} }, 'webhooks[0].clientConfig'],
  ['scheme', { clientConfig: { url: 'http://a.example.com' } }, 'webhooks[0].clientConfig.url'],
  [
    'operations',
    { rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }] },
    'webhooks[0].rules[0].operations',
  ],
])('a configuration with an invalid %s is rejected', async (_name, fields, field) => {
  const webhook = {
    name: 'a.example.com',
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    clientConfig: { url: 'https://a.example.com' },
    ...fields,
  };
  const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
  const { json } = await send(sandbox, 'POST', path, { body: { metadata: { name: 'a' }, webhooks: [webhook] } });
  expect(json).toMatchObject({ code: 422, reason: 'Invalid', details: { causes: [{ field }] } });
});
