import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type SecretEvent, type WatchPace, watchServingSecret } from '../../../../src/kubernetes/client/index.ts';
import { ApiServer, namespace, servingPath } from '../api-server.ts';

const within = { timeout: 20_000, interval: 5 };
const name = 'extensionconfig-webhook-tls';
const collection = servingPath.slice(0, servingPath.lastIndexOf('/'));
/** Settings with which only a watch can report changes in time: no poll is due. */
const watchOnly = { pollMs: 60_000, maxPollMs: 60_000, minRetryMs: 1 };
/** Settings with fast polls and retries. */
const fast = { pollMs: 10, maxPollMs: 40, minRetryMs: 10, maxRetryMs: 100 };

let server: ApiServer;
let events: SecretEvent[];
let stop: () => void;

beforeEach(async () => {
  server = await new ApiServer().start();
  events = [];
});
afterEach(async () => {
  stop();
  await server.stop();
});

function watch(changes: Partial<WatchPace>): void {
  const config = new KubeConfig();
  config.loadFromFile(server.kubeconfig());
  stop = watchServingSecret(config, namespace, name, changes)((event) => events.push(event));
}

const put = (text: string) =>
  server.put(servingPath, {
    metadata: { name },
    data: Object.fromEntries(
      ['tls.crt', 'tls.key', 'ca.crt'].map((key) => [key, Buffer.from(text).toString('base64')]),
    ),
  });
const states = () => events.filter(({ kind }) => kind !== 'watching');
const last = () => states().at(-1);
const problems = () => events.flatMap((event) => (event.kind === 'watching' ? [event.problem] : []));
const is = (text: string) => ({ kind: 'secret', secret: { cert: text, key: text, ca: text } });

const sees = (text: string) => vi.waitFor(() => expect(last()).toEqual(is(text)), within);
const seesNone = () => vi.waitFor(() => expect(last()?.kind).toBe('absent'), within);

test('sees a Secret appear, change, disappear, come back, and change while the connection is lost', async () => {
  watch(watchOnly);
  await seesNone();
  expect(last()).toEqual({ kind: 'absent', reason: `Secret ${namespace}/${name} does not exist` });
  expect(server.watching).toBe(1);
  put('1');
  await sees('1');
  put('2');
  await sees('2');
  server.dropWatches();
  put('3');
  await sees('3');
  await vi.waitFor(() => expect(server.watching).toBe(1), within);
  server.delete(servingPath);
  await seesNone();
  expect(last()).toEqual({ kind: 'absent', reason: `Secret ${namespace}/${name} was deleted` });
  put('4');
  await sees('4');
  expect(states()).toHaveLength(6);
  expect(problems()).toEqual([]);
});

test('ignores other Secrets of the namespace, and reports nothing after the end', async () => {
  put('1');
  watch(watchOnly);
  await sees('1');
  server.put(`${collection}/other`, { metadata: { name: 'other' } });
  put('2');
  await sees('2');
  stop();
  put('3');
  await vi.waitFor(() => expect(server.watching).toBe(0), within);
  expect(events).toEqual([is('1'), is('2')]);
});

test('a Secret without data has empty texts', async () => {
  server.put(servingPath, { metadata: { name } });
  watch(watchOnly);
  await vi.waitFor(() => expect(events).toEqual([is('')]), within);
});

test('a slow read does not overwrite a newer event', async () => {
  put('1');
  let answers = 0;
  server.hold = async (verb, path) => {
    if (`${verb} ${path}` === `GET ${servingPath}` && ++answers === 1) {
      put('2');
      await sees('2');
    }
  };
  watch(watchOnly);
  await vi.waitFor(() => expect(answers).toBe(1), within);
  await sees('2');
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(events).toEqual([is('1'), is('2')]);
});

test('reports a forbidden watch with the permission and the remedy, and polls the Secret instead', async () => {
  server.forbidden.add(`WATCH ${collection}`);
  put('1');
  watch(fast);
  await sees('1');
  await vi.waitFor(
    () =>
      expect(problems()).toEqual([
        `Secret ${namespace}/${name}: forbidden: the permission to watch secrets ${namespace}/${name} is missing` +
          ` (User "test" cannot watch ${collection}); allow get and watch on it, in a Role of namespace ${namespace}` +
          ' for the account of this server; until it can be watched, it is read every 0.01 s',
      ]),
    within,
  );
  put('2');
  await sees('2');
  server.delete(servingPath);
  await seesNone();
  put('3');
  await sees('3');
  server.forbidden.clear();
  await vi.waitFor(() => expect(problems()).toHaveLength(2), within);
  expect(problems().at(-1)).toBeUndefined();
});

test('reports a forbidden read as well', async () => {
  server.forbidden.add(`GET ${servingPath}`);
  watch(fast);
  await vi.waitFor(
    () =>
      expect(problems()).toEqual([
        `Secret ${namespace}/${name}: forbidden: the permission to get secrets ${namespace}/${name} is missing` +
          ` (User "test" cannot GET ${servingPath}); allow get and watch on it, in a Role of namespace ${namespace}` +
          ' for the account of this server',
      ]),
    within,
  );
  expect(states()).toEqual([]);
});

test('reports a failing API server, retries with growing waits, and recovers', async () => {
  put('1');
  watch(fast);
  await sees('1');
  server.faults.push(...Array<number>(1000).fill(500));
  server.dropWatches();
  const problem = `Secret ${namespace}/${name}: a fault of the test; the last version that was read stays in use`;
  await vi.waitFor(() => expect(problems()).toContain(problem), within);
  const before = server.requests;
  await new Promise((resolve) => setTimeout(resolve, 300));
  // One read per 40 ms, and later one attempt to watch per 100 ms: some 14. Without backoff there would be 60.
  expect(server.requests - before).toBeLessThan(30);
  put('2');
  server.faults.length = 0;
  await sees('2');
  await vi.waitFor(() => expect(problems().at(-1)).toBeUndefined(), within);
});

test('failed reads are retried at growing intervals, up to the longest', async () => {
  server.faults.push(...Array<number>(1000).fill(500));
  watch({ pollMs: 5, maxPollMs: 20, minRetryMs: 60_000, maxRetryMs: 60_000 });
  const after = async (count: number) => {
    await vi.waitFor(() => expect(server.requests).toBeGreaterThanOrEqual(count), within);
    return performance.now();
  };
  // One attempt to watch, then a read at once and after 5, 10, 20, 20, … ms. A timer may be a little early.
  const began = await after(2);
  expect((await after(6)) - began).toBeGreaterThan(5 + 10 + 20 + 20 - 6);
  // Without a maximum it would take 20 s.
  await after(14);
  expect(performance.now() - began).toBeLessThan(10_000);
});

test('a successful read resets the interval', async () => {
  server.forbidden.add(`WATCH ${collection}`);
  server.faults.push(...Array<number>(8).fill(500));
  put('1');
  watch({ pollMs: 5, maxPollMs: 60_000, minRetryMs: 60_000, maxRetryMs: 60_000 });
  await sees('1');
  const [began, before] = [performance.now(), server.requests];
  await vi.waitFor(() => expect(server.requests - before).toBeGreaterThan(12), within);
  // With the backoff that the failures had reached, 320 ms, it would take four seconds.
  expect(performance.now() - began).toBeLessThan(3_000);
});

test("observes a server's Retry-After", async () => {
  server.retryAfterSeconds = 0.3;
  server.faults.push(...Array<number>(1000).fill(503));
  watch({ pollMs: 1, maxPollMs: 1, minRetryMs: 1, maxRetryMs: 1 });
  const began = performance.now();
  // An attempt to watch, a read, and the wait of both before others.
  await vi.waitFor(() => expect(server.requests).toBeGreaterThan(2), within);
  expect(performance.now() - began).toBeGreaterThan(290);
});

test('reports a watch that the server ends at once, and does not repeat it in a loop', async () => {
  put('1');
  server.maxWatchMs = 0;
  watch({ ...fast, minRetryMs: 50 });
  await vi.waitFor(
    () =>
      expect(problems()).toContain(
        `Secret ${namespace}/${name}: the API server ends the watch at once; until it can be watched, it is read every 0.01 s`,
      ),
    within,
  );
  put('2');
  await sees('2');
});

test('a connection that ends at once is a problem; those that lasted are not, however many end', async () => {
  const lost = new RegExp(
    `^Secret ${namespace}/${name}: no answer from the API server \\S+: (UND_ERR_SOCKET|ECONNRESET);`,
  );
  put('1');
  watch({ ...fast, minRetryMs: 60_000 });
  await sees('1');
  server.dropWatches();
  await vi.waitFor(() => expect(problems()[0]).toMatch(lost), within);
  stop();
  events.length = 0;
  const before = server.opened;
  watch({ ...fast, minRetryMs: 1 });
  for (let count = 1; count <= 4; count++) {
    await vi.waitFor(() => expect(server.opened).toBe(before + count), within);
    await new Promise((resolve) => setTimeout(resolve, 20));
    server.dropWatches();
  }
  await vi.waitFor(() => expect(server.opened).toBe(before + 5), within);
  expect(problems()).toEqual([]);
});

test('notices a connection that dies silently', async () => {
  put('1');
  watch({ ...watchOnly, watchMs: 200, graceMs: 50 });
  await sees('1');
  server.silenceWatches();
  put('2');
  await sees('2');
  await vi.waitFor(() => expect(server.watching).toBe(1), within);
});

test('watches across many connections without a repeated state, a missed one, or a problem', async () => {
  put('0');
  server.maxWatchMs = 30;
  watch(watchOnly);
  const before = server.requests;
  for (let count = 1; count <= 40; count++) {
    put(String(count));
    await sees(String(count));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(states().length).toBeLessThanOrEqual(41);
  expect(new Set(states().map((state) => JSON.stringify(state))).size).toBe(states().length);
  expect(problems()).toEqual([]);
  // A watch and a read each.
  expect(server.requests - before).toBeGreaterThan(6);
});

test.each([
  ['data that is not an object', { data: 'x' }],
  ['a value that is not text', { data: { 'tls.crt': 1 } }],
  ['another object', { metadata: { name: 'other' } }],
])('a malformed Secret (%s) is a problem, not an empty Secret', async (_what, changes) => {
  server.put(servingPath, { metadata: { name }, ...changes } as Parameters<ApiServer['put']>[1]);
  watch(fast);
  await vi.waitFor(() => expect(problems().join()).toContain('is not the Secret'), within);
  expect(states()).toEqual([]);
  put('1');
  await sees('1');
});
