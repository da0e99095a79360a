import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadKubeConfig, type SecretEvent, watchServingSecret } from '../../src/cluster/index.ts';
import { ApiServer, namespace, servingPath } from './api-server.ts';

const within = { timeout: 20_000, interval: 20 };
/** What a user sees as «at once»: no poll has to come round. */
const atOnce = { timeout: 1_000, interval: 10 };
const name = 'extensionconfig-webhook-tls';
const collection = servingPath.slice(0, servingPath.lastIndexOf('/'));
const pace = { watchMs: 1000, graceMs: 500, pollMs: 200, maxPollMs: 400, minRetryMs: 100, maxRetryMs: 1000 };

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

function watch(changes = {}): void {
  const config = loadKubeConfig({ kubeconfig: server.kubeconfig() });
  stop = watchServingSecret(config, namespace, name, (event) => events.push(event), changes);
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

test('the watch of a Secret sees it appear, change, go, come back, and change while the connection is lost', async () => {
  watch();
  await vi.waitFor(() => expect(last()?.kind).toBe('absent'), within);
  expect(server.watching).toBe(1);
  put('1');
  await vi.waitFor(() => expect(last()).toEqual(is('1')), atOnce);
  put('2');
  await vi.waitFor(() => expect(last()).toEqual(is('2')), atOnce);
  server.dropWatches();
  put('3');
  await vi.waitFor(() => expect(last()).toEqual(is('3')), { timeout: 2_000, interval: 10 });
  await vi.waitFor(() => expect(server.watching).toBe(1), within);
  server.delete(servingPath);
  await vi.waitFor(() => expect(last()?.kind).toBe('absent'), atOnce);
  put('4');
  await vi.waitFor(() => expect(last()).toEqual(is('4')), atOnce);
  expect(states()).toHaveLength(6);
});

test('a watch that is forbidden is said, with the permission and the remedy, and the Secret is read often instead', async () => {
  server.forbidden.add(`WATCH ${collection}`);
  put('1');
  watch();
  await vi.waitFor(() => expect(last()).toEqual(is('1')), within);
  await vi.waitFor(
    () =>
      expect(problems()).toEqual([
        `Secret ${namespace}/${name}: forbidden: the permission to watch secrets ${namespace}/${name} is missing` +
          ` (User "test" cannot watch ${collection}); allow get and watch on it, in a Role of namespace ${namespace}` +
          ' for the account of this server; until it can be watched it is read every 1 s',
      ]),
    within,
  );
  put('2');
  await vi.waitFor(() => expect(last()).toEqual(is('2')), { timeout: 3_000, interval: 10 });
  server.delete(servingPath);
  await vi.waitFor(() => expect(last()?.kind).toBe('absent'), { timeout: 3_000, interval: 10 });
  put('3');
  await vi.waitFor(() => expect(last()).toEqual(is('3')), { timeout: 3_000, interval: 10 });
  server.forbidden.clear();
  await vi.waitFor(() => expect(problems()).toHaveLength(2), within);
  expect(problems().at(-1)).toBeUndefined();
});

test('an API server that fails is said, asked with growing waits, and well again once it answers', async () => {
  put('1');
  watch(pace);
  await vi.waitFor(() => expect(last()).toEqual(is('1')), within);
  server.faults.push(...Array<number>(1000).fill(500));
  server.dropWatches();
  await vi.waitFor(
    () => expect(problems().join()).toContain('a fault of the test; what was read last is kept'),
    within,
  );
  const before = server.requests;
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  // One read in 400 ms, one try to watch a second: some 8.
  expect(server.requests - before).toBeLessThan(16);
  put('2');
  server.faults.length = 0;
  await vi.waitFor(() => expect(last()).toEqual(is('2')), within);
  await vi.waitFor(() => expect(problems().at(-1)).toBeUndefined(), within);
});

test('reads that fail come at growing intervals', async () => {
  server.faults.push(...Array<number>(1000).fill(500));
  watch({ ...pace, pollMs: 50, maxPollMs: 60_000, minRetryMs: 60_000, maxRetryMs: 60_000 });
  await vi.waitFor(() => expect(server.requests).toBeGreaterThan(2), within);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  // After 50, 100, 200, 400 and 800 ms; at a constant 50 ms there would be some 30.
  expect(server.requests).toBeLessThan(12);
});

test('a connection that dies without a word is noticed', async () => {
  put('1');
  watch(pace);
  await vi.waitFor(() => expect(last()).toEqual(is('1')), within);
  server.silenceWatches();
  put('2');
  await vi.waitFor(() => expect(last()).toEqual(is('2')), { timeout: 5_000, interval: 20 });
  await vi.waitFor(() => expect(server.watching).toBe(1), within);
});

test('a watch goes on over many connections without a repeated state, a missed one, or a problem', async () => {
  put('0');
  watch(pace);
  for (let count = 1; count <= 40; count++) {
    put(String(count));
    await vi.waitFor(() => expect(last()).toEqual(is(String(count))), atOnce);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(states().length).toBeLessThanOrEqual(41);
  expect(new Set(states().map((state) => JSON.stringify(state))).size).toBe(states().length);
  expect(problems()).toEqual([]);
});

test.each([
  ['data that is not an object', { data: 'x' }],
  ['a value that is not text', { data: { 'tls.crt': 1 } }],
  ['another object', { metadata: { name: 'other' } }],
])('a Secret of the wrong shape (%s) is a problem, not an empty Secret', async (_what, changes) => {
  server.put(servingPath, { metadata: { name }, ...changes } as Parameters<ApiServer['put']>[1]);
  watch(pace);
  await vi.waitFor(() => expect(problems().join()).toContain('is not the Secret'), within);
  expect(states()).toEqual([]);
  put('1');
  await vi.waitFor(() => expect(last()).toEqual(is('1')), within);
});
