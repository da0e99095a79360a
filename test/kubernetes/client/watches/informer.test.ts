import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { aroundEach, expect, test, vi } from 'vitest';
import {
  type Informer,
  type InformerChange,
  type InformerOptions,
  loadKubeConfig,
  objectKey,
  startInformer,
  type WatchPace,
} from '../../../../src/kubernetes/client/index.ts';
import { startSandbox } from '../../../../src/sandbox/index.ts';
import { send } from '../../../sandbox/client.ts';
import { ending, endWith } from '../../../support/ends.ts';
import { ApiServer } from '../api-server.ts';

const within = { timeout: 20_000, interval: 10 };
const pace = { watchMs: 60_000, graceMs: 300, minRetryMs: 10, maxRetryMs: 40 };
const namespaces = '/api/v1/namespaces';
const secrets = '/api/v1/namespaces/default/secrets';

aroundEach(ending);

/** An informer and its reports: `type key` of each change, and problems. */
function follow(config: KubeConfig, options: Partial<InformerOptions> = {}) {
  const changes: InformerChange[] = [];
  const problems: (string | undefined)[] = [];
  const informer: Informer = startInformer(config, {
    path: namespaces,
    resource: 'namespaces',
    pace,
    onChange: (change) => changes.push(change),
    onProblem: (problem) => problems.push(problem),
    ...options,
  });
  endWith(() => informer.stop());
  const keys = () => informer.list().map(({ metadata }) => (metadata as { name: string }).name);
  return { informer, problems, changes, keys, lines: () => changes.map(({ type, key }) => `${type} ${key}`) };
}

function configOf(text: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(text);
  return config;
}

const plain = (server: string) => {
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'test', server, skipTLSVerify: true }, { name: 'test' });
  return config;
};

/** Responds as told: a list for each GET without `watch`, and `onWatch` for each watch. */
async function scripted(
  items: (lists: number) => object[],
  onWatch: (response: ServerResponse, watches: number, from: string) => void,
  token = '',
) {
  const counts = { lists: 0, watches: 0 };
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://server');
    asked.push(request.url ?? '');
    response.writeHead(200, { 'content-type': 'application/json' });
    if (searchParams.get('watch') !== 'true') {
      counts.lists++;
      const metadata = { resourceVersion: String(100 * counts.lists), continue: token };
      response.end(JSON.stringify({ kind: 'NamespaceList', metadata, items: items(counts.lists) }));
      return;
    }
    response.flushHeaders();
    onWatch(response, ++counts.watches, searchParams.get('resourceVersion') ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endWith(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { counts, asked, config: plain(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) };
}

const namespace = (name: string, resourceVersion = '1', uid = `uid of ${name}`) => ({
  metadata: { name, uid, resourceVersion },
});
const event = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;

test.concurrent('lists objects, then follows creations, changes, deletions, and objects created again with the same name', async ({
  expect,
}) => {
  const sandbox = await startSandbox();
  endWith(() => sandbox.stop());
  const make = (name: string) => send(sandbox, 'POST', secrets, { body: { metadata: { name } } });
  await make('s0');
  await make('s1');
  const { informer, keys, changes, lines, problems } = follow(configOf(sandbox.kubeconfig), {
    path: '/api/v1/secrets',
    resource: 'secrets',
  });
  await informer.synced;
  expect(keys()).toEqual(['s0', 's1']);
  expect(lines()).toEqual(['added default/s0', 'added default/s1']);
  changes.length = 0;
  await make('new');
  await send(sandbox, 'PUT', `${secrets}/new`, { body: { metadata: { name: 'new' }, stringData: { a: '1' } } });
  await send(sandbox, 'DELETE', `${secrets}/new`);
  await make('new');
  const expected = ['added default/new', 'updated default/new', 'deleted default/new', 'added default/new'];
  await vi.waitFor(() => expect(lines()).toEqual(expected), within);
  expect(changes[1]).toMatchObject({ object: { data: { a: 'MQ==' } }, previous: { metadata: { name: 'new' } } });
  expect(changes[1]?.previous).not.toHaveProperty('data');
  expect(informer.get('default/new')).toMatchObject({ kind: 'Secret', metadata: { name: 'new' } });
  expect(informer.get('default/s0')?.metadata).not.toHaveProperty('managedFields');
  expect(problems).toEqual([]);
});

test.concurrent('continues where a watch ended in order: nothing is listed again, and nothing is missed', async ({
  expect,
}) => {
  const { counts, config } = await scripted(
    () => [namespace('a')],
    (response, watches, from) => {
      if (watches === 1) {
        response.write(event('ADDED', namespace('b', '101')));
        response.write(event('BOOKMARK', { metadata: { resourceVersion: '150' } }));
        setTimeout(() => response.end(), 30);
      } else {
        response.write(event('ADDED', namespace(`after-${from}`, '200')));
      }
    },
  );
  const { keys, problems } = follow(config);
  await vi.waitFor(() => expect(keys()).toEqual(['a', 'b', 'after-150']), within);
  expect([counts.lists, problems]).toEqual([1, []]);
});

test.each([
  ['in an event', (response: ServerResponse) => response.end(event('ERROR', { code: 410, message: 'too old' }))],
  ['of a broken connection', (response: ServerResponse) => response.destroy()],
  ['of something that is not an event', (response: ServerResponse) => response.write('surprise\n')],
  ['of a line that does not end', (response: ServerResponse) => void response.write('x'.repeat(5 * 1024 * 1024))],
])('lists everything again after an error %s, and reports what was missed', async (_, fail) => {
  const { counts, config } = await scripted(
    (lists) => (lists === 1 ? [namespace('gone'), namespace('same')] : [namespace('same'), namespace('new', '150')]),
    (response, watches) => (watches === 1 ? fail(response) : undefined),
  );
  const { informer, lines } = follow(config);
  await vi.waitFor(() => expect(counts.watches).toBe(2), within);
  expect(lines()).toEqual(['added gone', 'added same', 'deleted gone', 'added new']);
  await vi.waitFor(() => expect(informer.problem).toBeUndefined(), within);
});

test.concurrent('notices a watch that dies silently', async ({ expect }) => {
  const { counts, config } = await scripted(
    (lists) => [namespace(`of-list-${lists}`)],
    () => {},
  );
  const { keys, problems, informer } = follow(config, { pace: { ...pace, watchMs: 150, graceMs: 50 } });
  await vi.waitFor(() => expect(keys()).toEqual(['of-list-2']), within);
  expect(counts.watches).toBeLessThanOrEqual(2);
  expect(informer.ageMs).toBeLessThan(60_000);
  // A single connection that ends is not reported.
  expect(problems).toEqual([]);
});

test.concurrent('follows an API server that restarts with other objects and versions', async ({ expect }) => {
  const first = await startSandbox();
  const port = Number(new URL(first.url).port);
  await send(first, 'POST', namespaces, { body: { metadata: { name: 'before' } } });
  for (let count = 0; count < 8; count++) {
    await send(first, 'POST', secrets, { body: { metadata: { name: `s${count}` } } });
  }
  const config = configOf(first.kubeconfig);
  const { informer, keys, problems } = follow(config);
  await informer.synced;
  await first.stop();
  await vi.waitFor(() => expect(problems.at(-1)).toMatch(/^namespaces: no answer from the API server /), within);
  expect(keys()).toContain('before');
  const second = await startSandbox({ port });
  endWith(() => second.stop());
  // The new server has a CA and a token of its own; it would reject the old kubeconfig.
  Object.assign(config, { clusters: configOf(second.kubeconfig).clusters, users: configOf(second.kubeconfig).users });
  await send(second, 'POST', namespaces, { body: { metadata: { name: 'after' } } });
  await vi.waitFor(() => expect(keys()).toContain('after'), within);
  expect(keys()).not.toContain('before');
  await vi.waitFor(() => expect(informer.problem).toBeUndefined(), within);
});

test.concurrent('names a missing permission, keeps what it has read, and continues once permitted', async ({
  expect,
}) => {
  const server = await new ApiServer().start();
  endWith(() => server.stop());
  server.put(`${secrets}/a`, { metadata: { name: 'a', namespace: 'default' } });
  server.forbidden.add(`GET ${secrets}`);
  const { informer, problems, keys } = follow(await loadKubeConfig({ kubeconfig: server.kubeconfig() }), {
    path: secrets,
    resource: 'secrets',
  });
  await vi.waitFor(
    () => expect(problems[0]).toMatch(/^secrets: forbidden: the permission to list secrets \(all\) is missing /),
    within,
  );
  expect(informer.ageMs).toBeUndefined();
  server.forbidden.clear();
  server.forbidden.add(`WATCH ${secrets}`);
  await vi.waitFor(() => expect(problems.at(-1)).toMatch(/the permission to watch secrets \(all\) is missing/), within);
  // Without a watch, the collection is listed repeatedly.
  server.put(`${secrets}/b`, { metadata: { name: 'b', namespace: 'default' } });
  await vi.waitFor(() => expect(keys()).toEqual(['a', 'b']), within);
  server.forbidden.clear();
  await vi.waitFor(() => expect(informer.problem).toBeUndefined(), within);
  server.delete(`${secrets}/a`);
  await vi.waitFor(() => expect(keys()).toEqual(['b']), within);
});

test.concurrent('a collection over the maximum is a problem, whether it is listed or grows, and memory stays bounded', async ({
  expect,
}) => {
  const { config } = await scripted(
    () => [namespace('a'), namespace('b')],
    (response) => response.write(event('ADDED', namespace('c', '101'))),
  );
  const grown = follow(config, { maxObjects: 2 });
  await vi.waitFor(
    () => expect(grown.problems).toContain('namespaces: there are more than 2 namespaces: select by label'),
    within,
  );
  expect(grown.keys()).toEqual(['a', 'b']);
  const listed = follow(config, { maxObjects: 1 });
  await vi.waitFor(() => expect(listed.problems.at(-1)).toMatch(/there are more than 1 namespaces/), within);
  expect(listed.keys()).toEqual([]);
});

test.concurrent('an endless list of empty pages is a problem', async ({ expect }) => {
  const { config } = await scripted(
    () => [],
    () => {},
    'more',
  );
  const informer = follow(config, { maxObjects: 20 });
  await vi.waitFor(() => expect(informer.problems.at(-1)).toMatch(/there are more than 20 namespaces/), within);
});

test.concurrent('so is a collection that takes more memory than allowed', async ({ expect }) => {
  const { config } = await scripted(
    () => [namespace('a'), namespace('b')],
    (response) => response.write(event('ADDED', namespace('c', '101'))),
  );
  const two = JSON.stringify(namespace('a')).length + JSON.stringify(namespace('b')).length;
  const grown = follow(config, { maxLength: two + 20 });
  await vi.waitFor(() => expect(grown.problems.at(-1)).toMatch(/the copy of namespaces takes more than/), within);
  expect(grown.keys()).toEqual(['a', 'b']);
  const listed = follow(config, { maxLength: two - 1 });
  await vi.waitFor(() => expect(listed.problems.at(-1)).toMatch(/the copy of namespaces takes more than/), within);
  expect(listed.keys()).toEqual([]);
});

test.concurrent('keeps only the requested parts of objects, and reports nothing after stop', async ({ expect }) => {
  let watch: ServerResponse | undefined;
  const { config } = await scripted(
    () => [{ ...namespace('a'), data: 'large' }],
    (response) => {
      watch = response;
    },
  );
  const { informer, lines } = follow(config, { keep: ({ metadata = null }) => ({ metadata }) });
  await vi.waitFor(() => expect(watch).toBeDefined(), within);
  expect(informer.list()).toEqual([namespace('a')]);
  watch?.write(event('MODIFIED', { ...namespace('a', '2'), data: 'large' }));
  await vi.waitFor(() => expect(lines()).toEqual(['added a', 'updated a']), within);
  expect(informer.list()).toEqual([namespace('a', '2')]);
  informer.stop();
  watch?.write(event('DELETED', namespace('a', '3')));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(lines()).toHaveLength(2);
});

test('watches that each end after one change are restarted at once, and are not a problem', async () => {
  const { counts, config } = await scripted(
    () => [namespace('a')],
    (response, watches) => {
      if (watches > 5) {
        return;
      }
      const type = watches % 2 === 0 ? 'BOOKMARK' : 'MODIFIED';
      response.end(event(type, { kind: 'Namespace', ...namespace('a', String(100 + watches)) }));
    },
  );
  // None of them lasts long enough for a watch without events to be normal.
  const { problems } = follow(config, { pace: { ...pace, minRetryMs: 60_000, maxRetryMs: 60_000 } });
  await vi.waitFor(() => expect(counts).toEqual({ lists: 1, watches: 6 }), within);
  expect(problems).toEqual([]);
});

// Not concurrent, because they depend on a time in which little happens.
test.each([
  ['that ends every watch at once', []],
  ['that repeats the same changes in every watch, and ends it', ['101', '102']],
])('does not overload a server %s', async (_what, versions) => {
  const { counts, config } = await scripted(
    () => [],
    (response) => void response.end(versions.map((version) => event('MODIFIED', namespace('a', version))).join('')),
  );
  const { problems } = follow(config, { pace: { ...pace, minRetryMs: 40, maxRetryMs: 40 } });
  await vi.waitFor(() => expect(problems.length).toBeGreaterThan(0), within);
  expect(problems[0]).toBe('namespaces: the API server ends the watch at once');
  const before = counts.watches;
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(counts.watches - before).toBeLessThanOrEqual(4);
});

test('the key of an object is its name, after its namespace if it has one', () => {
  expect(objectKey({ metadata: { name: 'a', namespace: 'n' } })).toBe('n/a');
  expect(objectKey({ metadata: { name: 'a', namespace: '' } })).toBe('a');
  expect(objectKey({ metadata: { name: 'a' } })).toBe('a');
  expect(objectKey({})).toBe('');
});

test.concurrent('the watch begins where the list ended', async ({ expect }) => {
  const { asked, config, counts } = await scripted(
    () => [],
    () => {},
  );
  follow(config);
  await vi.waitFor(() => expect(counts.watches).toBe(1), within);
  expect(asked).toEqual([
    `${namespaces}?limit=100`,
    `${namespaces}?resourceVersion=100&watch=true&allowWatchBookmarks=true&timeoutSeconds=60`,
  ]);
});

test.concurrent('the contents of the copy before and after the first list, and when the server last responded', async ({
  expect,
}) => {
  let watch: ServerResponse | undefined;
  const { config } = await scripted(
    () => [namespace('a')],
    (response) => {
      watch = response;
    },
  );
  const { informer } = follow(config);
  expect([informer.ageMs, informer.problem, informer.list()]).toEqual([undefined, undefined, []]);
  await informer.synced;
  expect([informer.ageMs, informer.problem]).toEqual([expect.any(Number), undefined]);
  expect([informer.get('a'), informer.get('b')]).toEqual([namespace('a'), undefined]);
  await vi.waitFor(() => expect(watch).toBeDefined(), within);
  for (const text of [
    event('ADDED', namespace('b', '101')),
    event('BOOKMARK', { metadata: { resourceVersion: '150' } }),
    event('DELETED', namespace('b', '160')),
  ]) {
    const confirmedAt = () => performance.now() - (informer.ageMs as number);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = confirmedAt();
    watch?.write(text);
    await vi.waitFor(() => expect(confirmedAt()).toBeGreaterThan(before + 2), within);
  }
  expect(informer.ageMs).toBeLessThan(10_000);
});

test.concurrent('applies events by version and uid, and does not report known states again', async ({ expect }) => {
  const { config } = await scripted(
    () => [namespace('a', '1'), namespace('b', '1')],
    (response) => {
      response.write(event('MODIFIED', namespace('a', '1')));
      response.write(event('DELETED', namespace('unknown', '101')));
      response.write(event('ADDED', namespace('a', '102')));
      response.write(event('MODIFIED', namespace('b', '103', 'another uid')));
      response.write(event('DELETED', namespace('a', '104')));
      response.write(event('ADDED', namespace('a', '105')));
    },
  );
  const { lines, changes, problems } = follow(config);
  await vi.waitFor(() => expect(lines().at(-1)).toBe('added a'), within);
  await vi.waitFor(() => expect(changes).toHaveLength(7), within);
  expect(changes).toEqual([
    { type: 'added', key: 'a', object: namespace('a', '1') },
    { type: 'added', key: 'b', object: namespace('b', '1') },
    { type: 'updated', key: 'a', object: namespace('a', '102'), previous: namespace('a', '1') },
    { type: 'deleted', key: 'b', object: namespace('b', '1') },
    { type: 'added', key: 'b', object: namespace('b', '103', 'another uid') },
    { type: 'deleted', key: 'a', object: namespace('a', '102') },
    { type: 'added', key: 'a', object: namespace('a', '105') },
  ]);
  expect(problems).toEqual([]);
});

test.concurrent('after a lost connection, a list reports only what changed', async ({ expect }) => {
  const { config } = await scripted(
    (lists) =>
      lists === 1
        ? [namespace('same', '1'), namespace('changed', '1'), namespace('remade', '1'), namespace('gone', '1')]
        : [namespace('same', '1'), namespace('changed', '2'), namespace('remade', '3', 'another uid')],
    (response, watches) =>
      watches === 1 ? response.end(event('ERROR', { code: 410, message: 'too old' })) : undefined,
  );
  const { lines, problems } = follow(config);
  await vi.waitFor(() => expect(lines()).toHaveLength(8), within);
  expect(lines().slice(4)).toEqual(['deleted gone', 'updated changed', 'deleted remade', 'added remade']);
  // A single failure is not reported.
  expect(problems).toEqual([]);
});

test.concurrent('a version that is repeatedly too old is a problem', async ({ expect }) => {
  const { config } = await scripted(
    () => [],
    (response) => response.end(event('ERROR', { code: 410, message: 'too old' })),
  );
  const { problems } = follow(config);
  await vi.waitFor(() => expect(problems[0]).toBe('namespaces: too old'), within);
});

test.each([
  ['without a version', {}, '100'],
  ['with one', { resourceVersion: '170' }, '170'],
])('a watch continues after an event %s', async (_what, more, from) => {
  const { asked, config } = await scripted(
    () => [],
    (response, watches) => {
      response.write(event('ADDED', { metadata: { name: 'a', ...more } }));
      if (watches === 1) {
        setTimeout(() => response.end(), 30);
      }
    },
  );
  follow(config);
  await vi.waitFor(() => expect(asked[2]).toContain(`resourceVersion=${from}&watch=true`), within);
});

test.concurrent('deleted objects make room, and growing objects use it up', async ({ expect }) => {
  const small = namespace('a');
  const length = JSON.stringify(small).length;
  const { config } = await scripted(
    () => [namespace('a'), namespace('b')],
    (response, watches) => {
      if (watches === 1) {
        response.write(event('DELETED', namespace('a')));
        response.write(event('ADDED', namespace('c')));
        response.write(event('MODIFIED', { ...namespace('c', '2'), data: 'x'.repeat(60) }));
        response.write(event('MODIFIED', namespace('c', '3')));
        response.write(event('MODIFIED', { ...namespace('c', '4'), data: 'x'.repeat(60) }));
        response.write(event('MODIFIED', { ...namespace('c', '5'), data: 'x'.repeat(100) }));
      }
    },
  );
  const { lines, problems } = follow(config, { maxLength: 2 * length + 80, pace: { ...pace, minRetryMs: 60_000 } });
  await vi.waitFor(() => expect(problems).toHaveLength(1), within);
  expect(problems[0]).toMatch(/^namespaces: the copy of namespaces takes more than 0\.0\d+ MiB$/);
  expect(lines().slice(2)).toEqual(['deleted a', 'added c', 'updated c', 'updated c', 'updated c']);
});

test.concurrent('enforces the maximum number of objects and characters', async ({ expect }) => {
  const { config, counts } = await scripted(
    () => [namespace('a'), namespace('b')],
    (response) => response.write(event('MODIFIED', namespace('a', '2'))),
  );
  const two = 2 * JSON.stringify(namespace('a')).length;
  const { lines, problems } = follow(config, { maxObjects: 2, maxLength: two });
  await vi.waitFor(() => expect(lines()).toEqual(['added a', 'added b', 'updated a']), within);
  expect([counts.lists, problems]).toEqual([1, []]);
});

test.concurrent('a list may be as long as the limit, whatever the copy contained before', async ({ expect }) => {
  const long = { data: 'x'.repeat(100) };
  const [before, after] = [
    [{ ...namespace('a'), ...long }, namespace('b')],
    // B comes first, while the long A is still there.
    [{ ...namespace('b', '2'), ...long }, namespace('a', '2')],
  ];
  const { config } = await scripted(
    (lists) => (lists === 1 ? before : after),
    (response, watches) =>
      watches === 1 ? response.end(event('ERROR', { code: 410, message: 'too old' })) : undefined,
  );
  const maxLength = before.reduce((sum, object) => sum + JSON.stringify(object).length, 0);
  const { informer, problems } = follow(config, { maxLength });
  await vi.waitFor(() => expect(informer.list()).toEqual(after.toReversed()), within);
  expect(problems).toEqual([]);
});

/** When a server that rejects everything is asked, and what is reported. */
async function refused(count: number, code: number, changes: Partial<WatchPace>, retryAfterSeconds?: number) {
  const server = await new ApiServer().start();
  endWith(() => server.stop());
  server.retryAfterSeconds = retryAfterSeconds;
  server.faults.push(...Array<number>(1000).fill(code));
  const began = performance.now();
  const { problems } = follow(await loadKubeConfig({ kubeconfig: server.kubeconfig() }), {
    pace: { ...pace, ...changes },
  });
  await vi.waitFor(() => expect(server.requests).toBeGreaterThanOrEqual(count), { ...within, interval: 2 });
  return { ms: performance.now() - began, problems };
}

test.concurrent('retries a failing server with growing waits, and reports it once', async ({ expect }) => {
  const { ms, problems } = await refused(5, 500, { minRetryMs: 20, maxRetryMs: 60_000 });
  // 20, 40, 80 and 160 ms, each at least three quarters of it.
  expect(ms).toBeGreaterThan(0.75 * 300 - 10);
  expect(problems).toEqual(['namespaces: a fault of the test']);
});

test.concurrent('waits grow up to the longest', async ({ expect }) => {
  const { ms } = await refused(16, 500, { minRetryMs: 5, maxRetryMs: 10 });
  // Without a maximum it would take 160 s.
  expect(ms).toBeLessThan(60_000);
});

test.concurrent("observes a server's Retry-After", async ({ expect }) => {
  const { ms } = await refused(2, 503, { minRetryMs: 1, maxRetryMs: 1 }, 1);
  expect(ms).toBeGreaterThan(990);
});

test.concurrent('an unreachable server is a problem at once', async ({ expect }) => {
  // The next retry would come in a minute.
  const { problems } = follow(plain('http://127.0.0.1:1'), { pace: { ...pace, minRetryMs: 60_000 } });
  const problem = 'namespaces: no answer from the API server http://127.0.0.1:1: ECONNREFUSED';
  await vi.waitFor(() => expect(problems).toEqual([problem]), within);
});

test.concurrent('an informer stopped from a change callback reports no other change', async ({ expect }) => {
  const { config, counts } = await scripted(
    () => [namespace('a'), namespace('b')],
    () => {},
  );
  const changes: InformerChange[] = [];
  const { informer, problems } = follow(config, {
    onChange: (change) => {
      changes.push(change);
      informer.stop();
    },
  });
  await vi.waitFor(() => expect(changes).toHaveLength(1), within);
  let isSynced = false;
  void informer.synced.then(() => {
    isSynced = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect([changes.length, counts.watches, problems]).toEqual([1, 0, []]);
  expect([isSynced, informer.ageMs]).toEqual([false, undefined]);
});

test.concurrent('all callbacks are optional', async ({ expect }) => {
  const { config } = await scripted(
    () => [namespace('a')],
    (response) => response.end(event('SURPRISE', {})),
  );
  const informer = startInformer(config, { path: namespaces, resource: 'namespaces', pace });
  endWith(() => informer.stop());
  await informer.synced;
  const problem = 'namespaces: a watch sent a line that is not an event';
  await vi.waitFor(() => expect(informer.problem).toBe(problem), within);
  expect(informer.list()).toEqual([namespace('a')]);
});

test.concurrent('keeps objects without a version, too', async ({ expect }) => {
  const { config } = await scripted(
    () => [{ metadata: { name: 'a' } }],
    () => {},
  );
  const { informer, lines } = follow(config);
  await informer.synced;
  expect(lines()).toEqual(['added a']);
});

test.concurrent('an informer stopped before the first list reports nothing, and is never synced', async ({
  expect,
}) => {
  let answer = () => {};
  const server = createServer((_request, response) => {
    answer = () => response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items: [namespace('a')] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endWith(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const asked = once(server, 'request');
  const { informer, lines, problems } = follow(plain(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  await asked;
  informer.stop();
  answer();
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect([informer.ageMs, lines(), problems]).toEqual([undefined, [], []]);
});
