import { once } from 'node:events';
import { request } from 'node:https';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../src/kubernetes/index.ts';
import { type Sandbox, type SandboxEvent, startSandbox } from '../../src/sandbox/index.ts';
import { eventually, send, startWebhook } from './client.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

let sandbox: Sandbox;
const events: SandboxEvent[] = [];

beforeAll(async () => {
  sandbox = await startSandbox({ history: 10, log: (event) => events.push(event) });
});
afterAll(() => sandbox.stop());
afterEach(async () => {
  events.length = 0;
  const webhooks = '/apis/admissionregistration.k8s.io/v1';
  const kinds = ['mutating', 'validating'].map((kind) => `${webhooks}/${kind}webhookconfigurations`);
  for (const collection of [...kinds, maps, definitions]) {
    expect((await send(sandbox, 'DELETE', collection)).status).toBe(200);
  }
  await eventually(
    () => send(sandbox, 'GET', definitions),
    ({ json }) => (json.items as unknown[]).length === 0,
  );
});

const metadataOf = (object: JsonObject) => object.metadata as JsonObject;
const statusOf = (object: JsonObject) => object.status as JsonObject;

function definition(
  plural: string,
  kind: string,
  fields: { shortNames?: string[]; scope?: string; schema?: object } = {},
) {
  return {
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: fields.scope ?? 'Cluster',
      names: { plural, kind, ...(fields.shortNames === undefined ? {} : { shortNames: fields.shortNames }) },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: fields.schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      ],
    },
  };
}

async function register(body: object) {
  expect((await send(sandbox, 'POST', definitions, { body })).status).toBe(201);
}

function served(plural: string) {
  return eventually(
    () => send(sandbox, 'GET', `/apis/example.com/v1/${plural}`),
    ({ status }) => status === 200,
  );
}

function watchLines(path: string) {
  const lines: { type: string; object: JsonObject }[] = [];
  let rest = '';
  const call = request(
    new URL(path, sandbox.url),
    { ca: sandbox.ca, headers: { authorization: `Bearer ${sandbox.token}` } },
    (response) =>
      response.on('data', (chunk: Buffer) => {
        const parts = (rest + chunk.toString()).split('\n');
        rest = parts.pop() ?? '';
        lines.push(...parts.map((line) => JSON.parse(line)));
      }),
  );
  call.on('error', () => {});
  call.end();
  return { lines, isStarted: once(call, 'response'), stop: () => call.destroy() };
}

/** Registers a webhook that is called when config maps are created. */
function configureWebhook(webhook: { url: string; caBundle: string }, kind: string, name: string, fields: object) {
  return send(sandbox, 'POST', `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`, {
    body: {
      metadata: { name },
      webhooks: [
        {
          name: `${name}.example.com`,
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          clientConfig: { url: `${webhook.url}/${name}`, caBundle: webhook.caBundle },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
          ...fields,
        },
      ],
    },
  });
}

test('only health and version are served without credentials', async () => {
  const anonymous = { ...sandbox, token: 'wrong' };
  for (const path of ['/healthz', '/readyz', '/livez', '/version']) {
    expect((await send(anonymous, 'GET', path)).status).toBe(200);
  }
  for (const path of ['/api', '/apis', '/openapi/v3', '/api/v1/secrets', '/nothing']) {
    expect((await send(anonymous, 'GET', path)).json).toMatchObject({ reason: 'Unauthorized', code: 401 });
  }
});

test.each([
  ['//[', 400],
  ['/api/v1/%zz', 404],
  ['/openapi/v3/apis/a/b/c/d', 404],
  ['http://elsewhere/healthz', 200],
])('the request target %s is answered with %d', async (path, status) => {
  const { hostname: host, port } = new URL(sandbox.url);
  const code = await new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${sandbox.token}` };
    const call = request({ host, port, path, headers, ca: sandbox.ca }, (response) =>
      resolve(response.resume().statusCode),
    );
    call.on('error', reject).end();
  });
  expect(code).toBe(status);
  expect(events).toEqual([]);
});

test('a body over 3 MiB is rejected', async () => {
  const body = JSON.stringify({ metadata: { name: 'big' }, data: { a: 'x'.repeat(3 * 1024 * 1024) } });
  const { status, json } = await send(sandbox, 'POST', maps, { body });
  expect([status, json.message]).toEqual([413, 'Request entity too large: limit is 3145728']);
});

test('of concurrent updates of one version, one succeeds and the others get a conflict', async () => {
  const { json } = await send(sandbox, 'POST', maps, { body: { metadata: { name: 'one' }, data: { n: '0' } } });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      send(sandbox, 'PUT', `${maps}/one`, { body: { ...json, data: { n: `${n + 1}` } } }),
    ),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ json: answer }) => answer.reason === 'Conflict')).toHaveLength(19);
});

test('concurrent patches of different fields are all preserved', async () => {
  await send(sandbox, 'POST', maps, { body: { metadata: { name: 'one' } } });
  const headers = { 'content-type': 'application/merge-patch+json' };
  const keys = Array.from({ length: 20 }, (_, n) => `k${n}`);
  await Promise.all(
    keys.map((key) => send(sandbox, 'PATCH', `${maps}/one`, { headers, body: { data: { [key]: 'v' } } })),
  );
  const { json } = await send(sandbox, 'GET', `${maps}/one`);
  expect(Object.keys(json.data as object).toSorted()).toEqual(keys.toSorted());
});

test('a patch looks for its object before it is read: a list is no merge patch, of an object that exists', async () => {
  await send(sandbox, 'POST', maps, { body: { metadata: { name: 'one' } } });
  const headers = { 'content-type': 'application/merge-patch+json' };
  const statusOf = async (name: string) =>
    (await send(sandbox, 'PATCH', `${maps}/${name}`, { headers, body: [] })).status;
  expect([await statusOf('one'), await statusOf('none')]).toEqual([400, 404]);
});

test('every watch gets every write once, in order, during many writes', async () => {
  const watchers = Array.from({ length: 5 }, () => watchLines(`${maps}?watch=true`));
  await Promise.all(watchers.map(({ isStarted }) => isStarted));
  await Promise.all(
    Array.from({ length: 30 }, (_, n) => send(sandbox, 'POST', maps, { body: { metadata: { name: `m${n}` } } })),
  );
  for (const { lines, stop } of watchers) {
    await eventually(
      async () => lines.length,
      (length) => length >= 30,
    );
    const versions = lines.map(({ object }) => Number(metadataOf(object).resourceVersion));
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    expect(new Set(lines.map(({ object }) => metadataOf(object).name)).size).toBe(30);
    stop();
  }
});

test('a watch continues from a version, applies its selector, and reports 410 beyond the history', async () => {
  const { json } = await send(sandbox, 'GET', maps);
  const from = metadataOf(json).resourceVersion as string;
  await send(sandbox, 'POST', maps, { body: { metadata: { name: 'one', labels: { a: 'b' } } } });
  const headers = { 'content-type': 'application/merge-patch+json' };
  await send(sandbox, 'PATCH', `${maps}/one`, { headers, body: { metadata: { labels: { a: 'c' } } } });
  const { lines, stop } = watchLines(`${maps}?watch=true&resourceVersion=${from}&labelSelector=a%3Db`);
  await eventually(
    async () => lines.length,
    (length) => length === 2,
  );
  expect(lines.map(({ type }) => type)).toEqual(['ADDED', 'DELETED']);
  stop();
  for (let n = 0; n < 20; n++) {
    await send(sandbox, 'PATCH', `${maps}/one`, { headers, body: { data: { n: `${n}` } } });
  }
  const late = await send(sandbox, 'GET', `${maps}?watch=true&resourceVersion=${from}`);
  expect(JSON.parse(late.text)).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
});

test('a list comes in pages, and a watch from their version misses nothing', async () => {
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    await send(sandbox, 'POST', maps, { body: { metadata: { name } } });
  }
  const first = await send(sandbox, 'GET', `${maps}?limit=2`);
  expect(metadataOf(first.json)).toMatchObject({ remainingItemCount: 3 });
  await send(sandbox, 'DELETE', `${maps}/d`);
  const token = metadataOf(first.json).continue as string;
  const second = await send(sandbox, 'GET', `${maps}?limit=10&continue=${token}`);
  expect((second.json.items as JsonObject[]).map((item) => metadataOf(item).name)).toEqual(['c', 'e']);
  const from = metadataOf(second.json).resourceVersion as string;
  expect(from).toBe(metadataOf(first.json).resourceVersion);
  const { text } = await send(sandbox, 'GET', `${maps}?watch=true&timeoutSeconds=1&resourceVersion=${from}`);
  expect(JSON.parse(text)).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'd' } } });
});

test('finalizers delay a deletion, none can be added meanwhile, and removing the last one completes it', async () => {
  await send(sandbox, 'POST', maps, { body: { metadata: { name: 'one', finalizers: ['example.com/hold'] } } });
  const deleted = await send(sandbox, 'DELETE', `${maps}/one`);
  expect(metadataOf(deleted.json).deletionTimestamp).toBeDefined();
  const headers = { 'content-type': 'application/merge-patch+json' };
  const patch = (finalizers: string[] | null) =>
    send(sandbox, 'PATCH', `${maps}/one`, { headers, body: { metadata: { finalizers } } });
  expect((await patch(['example.com/hold', 'example.com/more'])).json).toMatchObject({ reason: 'Invalid' });
  expect((await patch(null)).status).toBe(200);
  expect((await send(sandbox, 'GET', `${maps}/one`)).status).toBe(404);
});

test('supports dry runs, preconditions and generateName', async () => {
  const dry = await send(sandbox, 'POST', `${maps}?dryRun=All`, { body: { metadata: { name: 'dry' } } });
  expect([dry.status, (await send(sandbox, 'GET', `${maps}/dry`)).status]).toEqual([201, 404]);
  const { json } = await send(sandbox, 'POST', maps, { body: { metadata: { generateName: 'gen-' } } });
  const name = metadataOf(json).name as string;
  expect(name).toMatch(/^gen-[a-z0-9]{5}$/);
  const wrong = await send(sandbox, 'DELETE', `${maps}/${name}`, { body: { preconditions: { uid: 'other' } } });
  expect(wrong.json).toMatchObject({ code: 409, reason: 'Conflict' });
  expect((await send(sandbox, 'DELETE', `${maps}?labelSelector=!x`)).status).toBe(200);
  expect((await send(sandbox, 'GET', `${maps}/${name}`)).status).toBe(404);
});

test.each<[string, string, object, number]>([
  ['a dry run of an unknown kind, in the body', '', { dryRun: ['Some'] }, 400],
  ['a dry run of an unknown kind', '?dryRun=Some', {}, 400],
  ['a body that is not an object', '', [], 400],
  ['a body of another kind', '', { apiVersion: 'v1', kind: 'ConfigMap' }, 400],
])('%s deletes nothing', async (_name, query, body, code) => {
  await send(sandbox, 'POST', maps, { body: { metadata: { name: 'kept' } } });
  expect((await send(sandbox, 'DELETE', `${maps}/kept${query}`, { body })).json).toMatchObject({ code });
  expect((await send(sandbox, 'GET', `${maps}/kept`)).status).toBe(200);
});

test('a write with an unknown dry run writes nothing', async () => {
  const query = 'dryRun=All&dryRun=Some';
  const created = await send(sandbox, 'POST', `${maps}?${query}`, { body: { metadata: { name: 'optional' } } });
  expect([created.status, created.json.message]).toEqual([400, 'dryRun can only be "All"']);
  await send(sandbox, 'POST', maps, { body: { metadata: { name: 'optional' } } });
  const headers = { 'content-type': 'application/merge-patch+json' };
  const patched = await send(sandbox, 'PATCH', `${maps}/optional?${query}`, { headers, body: { data: { a: 'b' } } });
  expect(patched.status).toBe(400);
  expect((await send(sandbox, 'GET', `${maps}/optional`)).json).not.toHaveProperty('data');
  await send(sandbox, 'DELETE', `${maps}/optional`);
});

test('a name that is taken is rejected until it is available again', async () => {
  await register(definition('firsts', 'First', { shortNames: ['f'] }));
  await served('firsts');
  await register(definition('seconds', 'Second', { shortNames: ['f'] }));
  const conditionOf = async (type: string) => {
    const { json } = await send(sandbox, 'GET', `${definitions}/seconds.example.com`);
    return ((statusOf(json).conditions ?? []) as JsonObject[]).find((condition) => condition.type === type);
  };
  expect(
    await eventually(
      () => conditionOf('NamesAccepted'),
      (found) => found !== undefined,
    ),
  ).toMatchObject({
    status: 'False',
    reason: 'ShortNamesConflict',
    message: '"f" is already in use',
  });
  expect((await send(sandbox, 'GET', '/apis/example.com/v1/seconds')).status).toBe(404);
  await send(sandbox, 'DELETE', `${definitions}/firsts.example.com`);
  await served('seconds');
  expect(await conditionOf('NamesAccepted')).toMatchObject({ status: 'True', reason: 'NoConflicts' });
});

test('a definition is deleted with its objects, after their finalizers', async () => {
  await register(definition('things', 'Thing'));
  await served('things');
  const things = '/apis/example.com/v1/things';
  await send(sandbox, 'POST', things, { body: { metadata: { name: 'free' } } });
  await send(sandbox, 'POST', things, { body: { metadata: { name: 'held', finalizers: ['example.com/hold'] } } });
  const { lines, stop } = watchLines(`${things}?watch=true`);
  await eventually(
    async () => lines.length,
    (length) => length === 2,
  );
  await send(sandbox, 'DELETE', `${definitions}/things.example.com`);
  await eventually(
    async () => lines.map(({ type }) => type),
    (types) => types.includes('DELETED'),
  );
  const refused = await send(sandbox, 'POST', things, { body: { metadata: { name: 'new' } } });
  expect(refused.json).toMatchObject({ code: 405, reason: 'MethodNotAllowed' });
  const headers = { 'content-type': 'application/merge-patch+json' };
  await send(sandbox, 'PATCH', `${things}/held`, { headers, body: { metadata: { finalizers: null } } });
  await eventually(
    () => send(sandbox, 'GET', `${definitions}/things.example.com`),
    ({ status }) => status === 404,
  );
  expect((await send(sandbox, 'GET', '/apis/example.com')).status).toBe(404);
  expect(Object.keys((await send(sandbox, 'GET', '/openapi/v3')).json.paths as object)).not.toContain(
    'apis/example.com/v1',
  );
  stop();
});

test('objects of a kind that gets another name can be read under it, patched and deleted', async () => {
  await register(definition('olds', 'Old'));
  await served('olds');
  const olds = '/apis/example.com/v1/olds';
  await send(sandbox, 'POST', olds, { body: { metadata: { name: 'a' } } });
  const headers = { 'content-type': 'application/merge-patch+json' };
  const names = { kind: 'New', listKind: 'NewList', singular: 'new' };
  await send(sandbox, 'PATCH', `${definitions}/olds.example.com`, { headers, body: { spec: { names } } });
  await eventually(
    () => send(sandbox, 'GET', `${olds}/a`),
    ({ json }) => json.kind === 'New',
  );
  const patched = await send(sandbox, 'PATCH', `${olds}/a`, { headers, body: { metadata: { labels: { b: 'c' } } } });
  expect(patched.json, patched.text).toMatchObject({ kind: 'New', metadata: { labels: { b: 'c' } } });
  expect((await send(sandbox, 'DELETE', `${olds}/a`)).status).toBe(200);
});

test('a namespace is deleted with everything in it, and accepts nothing new meanwhile', async () => {
  await send(sandbox, 'POST', '/api/v1/namespaces', { body: { metadata: { name: 'n' } } });
  const inside = '/api/v1/namespaces/n/configmaps';
  await send(sandbox, 'POST', inside, { body: { metadata: { name: 'held', finalizers: ['example.com/hold'] } } });
  await send(sandbox, 'DELETE', '/api/v1/namespaces/n');
  expect((await send(sandbox, 'POST', inside, { body: { metadata: { name: 'new' } } })).json).toMatchObject({
    reason: 'Forbidden',
  });
  const headers = { 'content-type': 'application/merge-patch+json' };
  await send(sandbox, 'PATCH', `${inside}/held`, { headers, body: { metadata: { finalizers: null } } });
  await eventually(
    () => send(sandbox, 'GET', '/api/v1/namespaces/n'),
    ({ status }) => status === 404,
  );
});

test('defaults, pruning and validation follow the schema', async () => {
  const schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer', default: 3, maximum: 5 },
          port: { 'x-kubernetes-int-or-string': true },
          kept: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          mode: { type: 'string', enum: ['a', 'b'] },
        },
      },
    },
  };
  await register(definition('sized', 'Sized', { schema }));
  await served('sized');
  const post = (spec: object) =>
    send(sandbox, 'POST', '/apis/example.com/v1/sized', { body: { metadata: { generateName: 's' }, spec } });
  const good = await post({ port: 'http', kept: { any: { thing: 1 } }, gone: 1 });
  expect(good.json.spec).toEqual({ size: 3, port: 'http', kept: { any: { thing: 1 } } });
  const bad = await post({ size: 9, port: true, mode: 'c' });
  expect((bad.json.details as { causes: unknown[] }).causes).toMatchObject([
    { reason: 'FieldValueInvalid', field: 'spec.size' },
    { reason: 'FieldValueTypeInvalid', field: 'spec.port' },
    { reason: 'FieldValueNotSupported', field: 'spec.mode' },
  ]);
});

test('objects of a definition are selected by the fields that it names', async () => {
  const properties = { spec: { type: 'object', properties: { color: { type: 'string' } } } };
  const defined = definition('pools', 'Pool', { schema: { type: 'object', properties } });
  Object.assign(defined.spec.versions[0] as object, { selectableFields: [{ jsonPath: '.spec.color' }] });
  await register(defined);
  await served('pools');
  const path = '/apis/example.com/v1/pools';
  for (const color of ['red', 'green']) {
    await send(sandbox, 'POST', path, { body: { metadata: { name: color }, spec: { color } } });
  }
  const red = await send(sandbox, 'GET', `${path}?fieldSelector=spec.color=red`);
  expect(red.json.items).toMatchObject([{ metadata: { name: 'red' } }]);
  expect((await send(sandbox, 'GET', `${path}?fieldSelector=spec.size=x`)).status).toBe(400);
});

test('OpenAPI: with the hash in the URL a document is immutable, and If-None-Match results in 304', async () => {
  const root = await send(sandbox, 'GET', '/openapi/v3');
  const { serverRelativeURL } =
    (root.json.paths as Record<string, { serverRelativeURL: string }>)['apis/apps/v1'] ?? {};
  const document = await send(sandbox, 'GET', serverRelativeURL as string);
  expect(document.headers['cache-control']).toBe('public, immutable');
  const headers = { 'if-none-match': document.headers.etag as string };
  expect((await send(sandbox, 'GET', serverRelativeURL as string, { headers })).status).toBe(304);
  const references = [...document.text.matchAll(/#\/components\/schemas\/([^"]+)/g)].map((match) => match[1] as string);
  const { schemas } = document.json.components as { schemas: object };
  expect(references.filter((name) => !Object.hasOwn(schemas, name))).toEqual([]);
});

test('strategic merge patch merges containers by name', async () => {
  const deployments = '/apis/apps/v1/namespaces/default/deployments';
  const containers = [
    { name: 'a', image: 'a:1' },
    { name: 'b', image: 'b:1' },
  ];
  const spec = {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers } },
  };
  await send(sandbox, 'POST', deployments, { body: { metadata: { name: 'd' }, spec } });
  const headers = { 'content-type': 'application/strategic-merge-patch+json' };
  const body = {
    spec: {
      template: {
        spec: {
          containers: [
            { name: 'a', image: 'a:2' },
            { $patch: 'delete', name: 'b' },
          ],
        },
      },
    },
  };
  const { json } = await send(sandbox, 'PATCH', `${deployments}/d`, { headers, body });
  expect(json).toMatchObject({
    metadata: { generation: 2 },
    spec: { template: { spec: { containers: [{ name: 'a', image: 'a:2' }] } } },
  });
});

test('webhooks can patch and deny, with failure policies and dry runs', async () => {
  const webhook = await startWebhook((url) => {
    if (url.startsWith('/mutate')) {
      const patch = Buffer.from(JSON.stringify([{ op: 'add', path: '/data', value: { set: 'yes' } }])).toString(
        'base64',
      );
      return { allowed: true, patchType: 'JSONPatch', patch, auditAnnotations: { rule: 'r' } };
    }
    return { allowed: false, status: { code: 422, reason: 'Invalid', message: 'no' } };
  });
  const configure = (kind: string, name: string, fields: object) => configureWebhook(webhook, kind, name, fields);
  const post = (name: string, labels = {}) => send(sandbox, 'POST', maps, { body: { metadata: { name, labels } } });
  await configure('mutating', 'mutate', {});
  expect((await post('a')).json.data).toEqual({ set: 'yes' });
  expect(events).toMatchObject([{ event: 'audit', annotations: { 'mutate.example.com/rule': 'r' } }]);
  await configure('validating', 'deny', { objectSelector: { matchLabels: { deny: 'me' } } });
  expect((await post('b')).status).toBe(201);
  expect((await post('c', { deny: 'me' })).json).toMatchObject({
    code: 422,
    message: 'admission webhook "deny.example.com" denied the request: no',
  });
  // The certificate has another name and another CA, so it is not trusted.
  const stranger = {
    url: `${webhook.url.replace('127.0.0.1', 'localhost')}/x`,
    caBundle: Buffer.from('no').toString('base64'),
  };
  await configure('validating', 'ignored', { clientConfig: stranger, failurePolicy: 'Ignore' });
  expect((await post('d')).status).toBe(201);
  await configure('validating', 'failing', { clientConfig: stranger });
  const failed = await post('e');
  expect(failed.json).toMatchObject({ code: 500, reason: 'InternalError' });
  expect(failed.json.message).toContain('failed calling webhook "failing.example.com"');
  await webhook.stop();
});

test('match conditions decide for which requests a webhook is called', async () => {
  const asked: string[] = [];
  const webhook = await startWebhook((url) => {
    asked.push(url.split('?')[0] ?? '');
    return { allowed: true };
  });
  const configure = (name: string, matchConditions: object[], fields = {}) =>
    configureWebhook(webhook, 'validating', name, { matchConditions, ...fields });
  const post = (name: string, data = {}) => send(sandbox, 'POST', maps, { body: { metadata: { name }, data } });
  const strangers = { name: 'strangers', expression: "!('system:masters' in request.userInfo.groups)" };
  const marked = { name: 'marked', expression: 'has(object.data) && has(object.data.mark)' };
  const broken = { name: 'broken', expression: "object.data.missing == 'x'" };
  expect((await configure('marked', [marked])).status).toBe(201);
  await configure('strangers', [marked, strangers]);
  await configure('decided', [broken, strangers]);
  await configure('open', [broken], { failurePolicy: 'Ignore' });
  expect((await post('a', { mark: 'x' })).status).toBe(201);
  expect(asked).toEqual(['/marked']);
  expect((await post('b')).status).toBe(201);
  expect(asked).toEqual(['/marked']);
  expect(events.map(({ event }) => event)).toEqual(['failed-open', 'failed-open']);
  await configure('closed', [broken]);
  const refused = await post('c');
  expect(refused.status).toBe(403);
  expect(refused.json.message).toBe(
    'configmaps "c" is forbidden: match conditions could not be evaluated: broken: No such key: missing',
  );
  await webhook.stop();
});

test.each([
  ['"unfinished', 'compilation failed: Unterminated string'],
  ['nothing', 'compilation failed: Unknown variable: nothing'],
  ['1 + 1', 'must evaluate to bool, not int'],
])('the match condition %j is rejected', async (expression, message) => {
  const webhooks = [
    {
      name: 'a.example.com',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      clientConfig: { url: 'https://127.0.0.1:1' },
      matchConditions: [
        { name: 'twice', expression: 'true' },
        { name: 'twice', expression },
      ],
    },
  ];
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  const { json, status } = await send(sandbox, 'POST', path, { body: { metadata: { name: 'wrong' }, webhooks } });
  expect(status, String(json.message)).toBe(422);
  expect((json.details as JsonObject).causes).toEqual([
    {
      reason: 'FieldValueDuplicate',
      message: 'Duplicate value: "twice"',
      field: 'webhooks[0].matchConditions[1].name',
    },
    {
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${JSON.stringify(expression)}: ${message}`,
      field: 'webhooks[0].matchConditions[1].expression',
    },
  ]);
});
