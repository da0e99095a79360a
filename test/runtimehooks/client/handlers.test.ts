import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Client, type ClientOptions, createClient } from '../../../src/runtimehooks/client/index.ts';
import { type HookDefinition, hooks, hooksGroup } from '../../../src/runtimehooks/index.ts';
import { caBundle, type ExtensionServer, extensionConfig, startExtension, storedHandler } from './extension-server.ts';
import { requestOf } from './sample-request.ts';

// One server for all tests; it responds according to the name of the called handler.
let answers: Record<string, JsonObject>;
let server: ExtensionServer;
const lastOf = (url: string) => url.split('?')[0]?.split('/').at(-1) ?? '';
beforeAll(async () => {
  server = await startExtension(({ url }) => answers[lastOf(url)] ?? { status: 'Failure', message: 'unknown' });
});
afterAll(() => server.close());

const clients: Client[] = [];
afterEach(async () => {
  server.received.length = 0;
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

const object = { namespace: 'default', name: 'lab', uid: 'uid-1' };
const upgrade = hooks.BeforeClusterUpgrade;
const asked = () => server.received.map(({ url }) => lastOf(url));

/** A client with an extension `one` that serves these handlers, by hook. */
function clientWith(
  handlers: Record<string, string>,
  options: ClientOptions = {},
  more: object = {},
  spec: object = {},
) {
  const client = createClient(options);
  clients.push(client);
  const stored = Object.entries(handlers).map(([name, hook]) => storedHandler(`${name}.one`, hook, more));
  client.registry.add(extensionConfig('one', { url: server.url, caBundle }, stored, { spec }));
  const call = (handler: string, hook: HookDefinition = upgrade, given: object = {}) =>
    client.callExtension(hook, { handler, object, request: requestOf(hook), ...given });
  const all = (hook: HookDefinition = upgrade, given: object = {}) =>
    client.callAllExtensions(hook, { object, request: requestOf(hook), ...given });
  return { client, call, all };
}

const success = (message = '', retryAfterSeconds = 0): JsonObject => ({
  status: 'Success',
  message,
  retryAfterSeconds,
});
const prefix = 'failed to call extension handler';

describe('no call is made', () => {
  const unknown = { ...upgrade, name: 'BeforeNothing' } as HookDefinition;
  const foreign = { ...upgrade, group: 'hooks.example.com' } as HookDefinition;
  const two = () => clientWith({ a: 'BeforeClusterUpgrade', b: 'AfterClusterUpgrade' });

  test.each<[string, string, HookDefinition, string, string]>([
    [
      'of a handler that is not registered',
      'x.one',
      upgrade,
      'registry',
      'failed to get extension handler "x.one" from registry: handler with name "x.one" has not been registered',
    ],
    [
      'of a handler of another hook',
      'b.one',
      upgrade,
      'registry',
      `handler does not match GroupHook "BeforeClusterUpgrade.${hooksGroup}"`,
    ],
    [
      'of an unknown hook',
      'a.one',
      unknown,
      'hook',
      `${hooksGroup}/v1alpha1, Hook=BeforeNothing is not in the Runtime SDK catalog`,
    ],
    [
      'of a hook of another group',
      'a.one',
      foreign,
      'hook',
      'hooks.example.com/v1alpha1, Hook=BeforeClusterUpgrade is not in the Runtime SDK catalog',
    ],
  ])('%s', async (_, handler, hook, step, message) => {
    const result = await two().call(handler, hook, { request: requestOf(upgrade) });
    expect(result).toEqual({ ok: false, error: { step, message: `${prefix} "${handler}": ${message}` } });
    expect(asked()).toEqual([]);
  });

  test('for all handlers of an unknown hook', async () => {
    expect(await two().all(unknown, { request: requestOf(upgrade) })).toEqual({
      ok: false,
      error: {
        step: 'hook',
        message: `failed to call extension handlers for hook "BeforeNothing.${hooksGroup}": ${hooksGroup}/v1alpha1, Hook=BeforeNothing is not in the Runtime SDK catalog`,
      },
      calls: [],
    });
  });

  test('for an object that is not selected, or whose namespace is unknown', async () => {
    const options = {
      namespaceLabels: async (namespace: string) => (namespace === 'default' ? { a: 'x' } : undefined),
    };
    const spec = { namespaceSelector: { matchLabels: { a: 'y' } } };
    const { client, call, all } = clientWith({ a: 'BeforeClusterUpgrade' }, options, {}, spec);
    expect(await call('a.one')).toEqual({
      ok: false,
      error: {
        step: 'selector',
        message: `${prefix} "a.one": namespaceSelector did not match object default/lab`,
      },
    });
    expect(await client.handlersFor(upgrade, object)).toEqual([]);
    const lost = { ...object, namespace: 'gone' };
    const single = await call('a.one', upgrade, { object: lost });
    const error = single.ok ? undefined : single.error;
    expect(error).toEqual({
      step: 'selector',
      message: expect.stringMatching(
        /^failed to call extension handler "a\.one": .*failed to get namespace gone: Namespace "gone" not found$/,
      ),
    });
    const result = await all(upgrade, { object: lost });
    expect(result.ok ? undefined : result.error.message).toMatch(
      /^failed to call extension handlers for hook ".*": failed to get extension handlers for hook ".*": failed to get extension handler "a\.one": failed to match namespace: .*"gone" not found$/,
    );
    expect(asked()).toEqual([]);
  });
});

test('the handlers of a hook are listed in order, without those of others', async () => {
  const { client } = clientWith({ b: 'BeforeClusterUpgrade', c: 'AfterClusterUpgrade', a: 'BeforeClusterUpgrade' });
  expect(await client.handlersFor(upgrade, object)).toEqual(['a.one', 'b.one']);
  client.remove('one');
  expect(await client.handlersFor(upgrade, object)).toEqual([]);
});

test('the answers of all handlers are joined, and each is reported individually', async () => {
  answers = { a: success('', 30), b: success('second', 0), c: success('third', 40) };
  const { all } = clientWith({ a: 'BeforeClusterUpgrade', b: 'BeforeClusterUpgrade', c: 'BeforeClusterUpgrade' });
  const result = await all();
  expect(result).toMatchObject({
    ok: true,
    response: { status: 'Success', message: 'second, third', retryAfterSeconds: 30 },
  });
  expect(result.calls.map(({ handler, result: one }) => [handler, one.ok && one.from, one.ok && one.response])).toEqual(
    [
      ['a.one', 'extension', expect.objectContaining(answers.a as object)],
      ['b.one', 'extension', expect.objectContaining(answers.b as object)],
      ['c.one', 'extension', expect.objectContaining(answers.c as object)],
    ],
  );
});

test('a wait of all handlers is remembered for an object, and expires', async () => {
  let now = 1;
  answers = { a: success('wait', 20) };
  const { all, client } = clientWith({ a: 'BeforeClusterUpgrade' }, { now: () => now });
  const cached = (uid = 'uid-1') => all(upgrade, { cache: true, object: { ...object, uid } });
  expect(await cached()).toMatchObject({ ok: true, calls: [{ handler: 'a.one' }] });
  now = 5_001;
  expect(await cached()).toEqual({
    ok: true,
    response: { status: 'Success', message: 'wait', retryAfterSeconds: 15 },
    calls: [],
  });
  await cached('uid-2');
  await all();
  expect(asked()).toEqual(['a', 'a', 'a']);
  now = 20_002;
  await cached();
  expect(asked()).toHaveLength(4);
  // Without a handler there is no wait.
  client.remove('one');
  expect(await cached()).toMatchObject({ response: { message: '', retryAfterSeconds: 0 }, calls: [] });
});

test('a wait of one handler does not affect others', async () => {
  answers = { a: success('wait', 20), b: success('', 0) };
  const { call } = clientWith({ a: 'BeforeClusterUpgrade', b: 'BeforeClusterUpgrade' }, { now: () => 1 });
  const cached = (handler: string) => call(handler, upgrade, { cache: true });
  expect(await cached('a.one')).toMatchObject({ ok: true, from: 'extension' });
  expect(await cached('a.one')).toEqual({
    ok: true,
    from: 'wait',
    response: {
      apiVersion: `${hooksGroup}/v1alpha1`,
      kind: 'BeforeClusterUpgradeResponse',
      status: 'Success',
      message: 'wait',
      retryAfterSeconds: 20,
    },
  });
  expect(await cached('b.one')).toMatchObject({ ok: true, from: 'extension' });
  expect(asked()).toEqual(['a', 'b']);
});

describe('a response is cached', () => {
  /** Whether a call like the first one is answered from the cache. */
  const same = (request: JsonObject) => request;
  const cases: [string, HookDefinition, change: (request: JsonObject) => JsonObject, isCached: boolean][] = [
    ['of an upgrade plan', hooks.GenerateUpgradePlan, same, true],
    [
      'not of a plan to another version',
      hooks.GenerateUpgradePlan,
      (request) => ({ ...request, toKubernetesVersion: 'v1.99.0' }),
      false,
    ],
    ['not of a plan of another Cluster', hooks.GenerateUpgradePlan, (request) => identified(request, 'another'), false],
    ['of a MachineSet', hooks.CanUpdateMachineSet, same, true],
    ['not of another hook', hooks.GeneratePatches, same, false],
  ];
  /** A request about a Cluster with a UID. */
  function identified(request: JsonObject, uid: string): JsonObject {
    const cluster = request.cluster as { metadata?: JsonObject } | undefined;
    return cluster === undefined
      ? request
      : { ...request, cluster: { ...cluster, metadata: { ...cluster.metadata, uid } } };
  }
  const response = (hook: HookDefinition): JsonObject => ({
    status: 'Success',
    ...(hook.name === 'GeneratePatches' && { items: [] }),
  });

  test.each(cases)('%s', async (_, hook, change, isCached) => {
    answers = { a: response(hook) };
    const { call } = clientWith({ a: hook.name }, { now: () => 1 });
    const request = identified(requestOf(hook), 'one');
    const first = await call('a.one', hook, { request, cache: true });
    expect(first).toMatchObject({ ok: true, from: 'extension' });
    const second = await call('a.one', hook, { request: change(request), cache: true });
    expect(second).toMatchObject({ ok: true, from: isCached ? 'cache' : 'extension' });
    // Nor is it used when caching is not requested.
    expect(await call('a.one', hook, { request })).toMatchObject({ ok: true, from: 'extension' });
  });

  test('but not of the plan of a Cluster without a UID', async () => {
    const hook = hooks.GenerateUpgradePlan;
    answers = { a: response(hook) };
    const { call } = clientWith({ a: hook.name });
    const { cluster, ...request } = requestOf(hook) as { cluster: JsonObject };
    const { uid: _, ...metadata } = cluster.metadata as JsonObject;
    for (const _time of [1, 2]) {
      const given = { request: { ...request, cluster: { ...cluster, metadata } }, cache: true };
      expect(await call('a.one', hook, given)).toMatchObject({ ok: true, from: 'extension' });
    }
  });

  test('but not in place of an ignored error', async () => {
    answers = {};
    const { call, client } = clientWith({ a: 'DiscoverVariables' }, { now: () => 1 }, { failurePolicy: 'Ignore' });
    client.registry.add(
      extensionConfig('one', { url: 'https://localhost:1', caBundle }, [
        storedHandler('a.one', 'DiscoverVariables', { failurePolicy: 'Ignore' }),
      ]),
    );
    const cached = () => call('a.one', hooks.DiscoverVariables, { cache: true });
    expect(await cached()).toMatchObject({ ok: true, from: 'ignore' });
    expect(await cached()).toMatchObject({ ok: true, from: 'ignore' });
  });

  test('and not affected by what a caller does to it', async () => {
    answers = { a: { status: 'Success', variables: [] } };
    const { call } = clientWith({ a: 'DiscoverVariables' }, { now: () => 1 });
    for (const from of ['extension', 'cache', 'cache']) {
      const result = await call('a.one', hooks.DiscoverVariables, { cache: true });
      expect(result).toMatchObject({ ok: true, from, response: { variables: [] } });
      const { variables } = (result.ok ? result.response : {}) as { variables: object[] };
      variables.push({ name: 'x' });
    }
  });
});

test.each<[string, (client: Client) => unknown]>([
  ['disconnected', (client) => client.disconnect('one')],
  ['closed', (client) => client.close()],
  [
    'told that the extension was removed, and of a new one',
    (client) => {
      client.remove('one');
      expect(client.registry.get('a.one')).toMatchObject({ step: 'registry' });
      const handlers = [storedHandler('a.one', upgrade.name)];
      client.registry.add(extensionConfig('one', { url: server.url, caBundle }, handlers));
    },
  ],
])('a client that was %s opens a new connection', async (_, act) => {
  answers = { a: success() };
  const { client, call } = clientWith({ a: upgrade.name });
  await call('a.one');
  const before = server.connections();
  await act(client);
  await call('a.one');
  expect(server.connections()).toBe(before + 1);
});
