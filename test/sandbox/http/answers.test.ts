import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { eventually, send } from '../client.ts';

const maps = '/api/v1/namespaces/default/configmaps';
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
  await send(sandbox, 'POST', maps, { body: { metadata: { name: 'one' }, data: { a: 'b' } } });
});
afterAll(() => sandbox.stop());

test('returns only the metadata of an object, and of a list', async () => {
  const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
  const one = await send(sandbox, 'GET', `${maps}/one`, { headers: { accept } });
  expect(one.json).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'one' } });
  expect(one.json).not.toHaveProperty('data');
  const headers = { accept, 'content-type': 'application/merge-patch+json' };
  const written = await send(sandbox, 'PATCH', `${maps}/one`, { headers, body: { metadata: { labels: { a: 'b' } } } });
  expect(written.json).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { labels: { a: 'b' } } });
  expect(written.json).not.toHaveProperty('data');
  const list = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
  const all = await send(sandbox, 'GET', maps, { headers: { accept: list } });
  expect(all.json).toMatchObject({
    kind: 'PartialObjectMetadataList',
    items: [{ kind: 'PartialObjectMetadata', metadata: { name: 'one' } }],
  });
});

test('returns a table with the whole objects, or with none', async () => {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const whole = await send(sandbox, 'GET', `${maps}?includeObject=Object`, { headers: { accept } });
  expect(whole.json.rows).toMatchObject([{ cells: ['one', expect.any(String)], object: { data: { a: 'b' } } }]);
  const none = await send(sandbox, 'GET', `${maps}?includeObject=None`, { headers: { accept } });
  expect((none.json.rows as JsonObject[])[0]).not.toHaveProperty('object');
});

test('responds to writes and deletions in the form that a client asks for', async () => {
  const metadata = { name: 'seen', finalizers: ['example.com/wait'] };
  const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const made = await send(sandbox, 'POST', maps, { headers: { accept: table }, body: { metadata, data: { a: 'b' } } });
  expect(made.json).toMatchObject({ kind: 'Table', rows: [{ cells: ['seen', expect.any(String)] }] });
  const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
  const deleted = await send(sandbox, 'DELETE', `${maps}/seen`, { headers: { accept } });
  expect(deleted.json).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'seen' } });
  expect(deleted.json).not.toHaveProperty('data');
  const headers = { accept, 'content-type': 'application/merge-patch+json' };
  await send(sandbox, 'PATCH', `${maps}/seen`, { headers, body: { metadata: { finalizers: null } } });
});

test('a media type that is not served is a 406', async () => {
  const answer = await send(sandbox, 'GET', maps, { headers: { accept: 'text/html' } });
  expect(answer.status).toBe(406);
  expect(answer.json).toMatchObject({ reason: 'NotAcceptable', message: expect.stringContaining('application/json') });
});

test('serves separate discovery documents to clients that do not know the aggregated one', async () => {
  expect((await send(sandbox, 'GET', '/api')).json).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
  const groups = await send(sandbox, 'GET', '/apis');
  expect(groups.json).toMatchObject({ kind: 'APIGroupList' });
  expect((await send(sandbox, 'GET', '/apis/apps')).json).toMatchObject({
    kind: 'APIGroup',
    name: 'apps',
    preferredVersion: { groupVersion: 'apps/v1' },
  });
  const apps = await send(sandbox, 'GET', '/apis/apps/v1');
  const names = (apps.json.resources as { name: string }[]).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['deployments', 'deployments/status']));
  expect((await send(sandbox, 'GET', '/apis/nobody.example.com')).status).toBe(404);
});

test.each([
  '/version/',
  '/api/',
  '/api/v1/',
  '/apis/',
  '/apis/apps/',
  '/apis/apps/v1/',
])('%s with a slash at the end is the same', async (path) => {
  const answer = await send(sandbox, 'GET', path);
  expect(answer.status).toBe(200);
  expect(answer.json).toEqual((await send(sandbox, 'GET', path.slice(0, -1))).json);
});

test('deletes a collection by selector, and nothing in a dry run', async () => {
  onTestFinished(async () => void (await send(sandbox, 'DELETE', `${maps}?labelSelector=group`)));
  for (const name of ['x1', 'x2', 'y1']) {
    await send(sandbox, 'POST', maps, { body: { metadata: { name, labels: { group: name[0] } } } });
  }
  const names = async () =>
    ((await send(sandbox, 'GET', `${maps}?labelSelector=group`)).json.items as JsonObject[]).map(
      ({ metadata }) => (metadata as JsonObject).name,
    );
  await send(sandbox, 'DELETE', `${maps}?labelSelector=group=x&dryRun=All`);
  expect(await names()).toEqual(['x1', 'x2', 'y1']);
  const deleted = await send(sandbox, 'DELETE', `${maps}?labelSelector=group=x`);
  expect(deleted.status).toBe(200);
  expect(deleted.json).toMatchObject({
    kind: 'ConfigMapList',
    items: [{ metadata: { name: 'x1' } }, { metadata: { name: 'x2' } }],
  });
  expect(await names()).toEqual(['y1']);
});

test('the initial namespaces cannot be deleted', async () => {
  const answer = await send(sandbox, 'DELETE', '/api/v1/namespaces/default');
  expect([answer.status, answer.json.message]).toEqual([
    403,
    'namespaces "default" is forbidden: this namespace may not be deleted',
  ]);
});

test.each([
  ['POST', `${maps}/one`],
  ['PUT', maps],
  ['DELETE', `${maps}/one/status`],
])('%s %s is not allowed', async (method, path) => {
  const { status } = await send(sandbox, method, path, { body: {} });
  expect([404, 405]).toContain(status);
});

test.each<string[]>([
  ['limit=x', 'limit'],
  ['limit=1e9', 'limit'],
  ['resourceVersion=0x10', 'resourceVersion'],
  ['watch=1&timeoutSeconds=x', 'timeoutSeconds'],
  ['resourceVersion=x', 'resourceVersion'],
  ['continue=x', 'continue'],
  // Of a version that is not one, and of one that is still to come.
  ...['[1.5,"a"]', '[1e9,"a"]'].map((token) => [`continue=${Buffer.from(token).toString('base64url')}`, 'continue']),
  ['labelSelector=a b', 'selector'],
  ['fieldSelector=data.a=b', 'field label not supported'],
  ['fieldSelector=nonsense', 'invalid field selector'],
])('a list with %s is a bad request', async (query, message) => {
  const { status, json } = await send(sandbox, 'GET', `${maps}?${encodeURI(query)}`);
  expect([status, json.reason]).toEqual([400, 'BadRequest']);
  expect(json.message).toContain(message);
});

test.each([
  'text/plain',
  'constructor',
  '__proto__',
  '',
])('a body with the content type %j is rejected', async (type) => {
  const answer = await send(sandbox, 'POST', maps, {
    body: { metadata: { name: 'x' } },
    headers: { 'content-type': type },
  });
  expect(answer.status).toBe(415);
  expect(answer.json.message).toContain('application/json, application/vnd.kubernetes.protobuf');
});

test('impersonation is refused: webhooks would see the only user', async () => {
  const refused = await send(sandbox, 'GET', maps, { headers: { 'impersonate-user': 'jane' } });
  expect([refused.status, refused.json.message]).toEqual([
    400,
    'the sandbox has no impersonation: its only user is sandbox-admin',
  ]);
});

test('an unknown field with a control character is a warning', async () => {
  const body = { metadata: { name: 'odd' }, '\u007f': 1 };
  const { status, headers } = await send(sandbox, 'POST', `${maps}?dryRun=All`, { body });
  expect([status, headers.warning]).toEqual([201, '299 - "unknown field \\"\\\\u007f\\""']);
});

test('so is the deprecationWarning of a CustomResourceDefinition with one', async () => {
  const name = { plural: 'olds', singular: 'old', kind: 'Old' };
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    deprecated: true,
    deprecationWarning: 'use\u001b[31m\u007f another',
    schema: { openAPIV3Schema: { type: 'object' } },
  };
  const body = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'olds.odd.example.com' },
    spec: { group: 'odd.example.com', scope: 'Cluster', names: name, versions: [version] },
  };
  await send(sandbox, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body });
  const { status, headers } = await eventually(
    () => send(sandbox, 'GET', '/apis/odd.example.com/v1/olds'),
    (answer) => answer.status !== 404,
  );
  expect([status, headers.warning]).toEqual([200, '299 - "use\\\\u001b[31m\\\\u007f another"']);
});

test('a target that is not a URL gets a 404 in plain text', async () => {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(sandbox.url).port), ca: sandbox.ca });
  socket.end('GET http://[ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1.1 404 .*\r\n\r\n.*404 page not found/s);
});

test('a body that is compressed is a 415', async () => {
  const body = { metadata: { name: 'compressed' } };
  const answer = await send(sandbox, 'POST', maps, { body, headers: { 'content-encoding': 'gzip' } });
  expect([answer.status, answer.json.kind, answer.json.message]).toEqual([
    415,
    'Status',
    'the body must not be compressed: omit Content-Encoding',
  ]);
});
