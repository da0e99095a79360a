import { afterEach, expect, test, vi } from 'vitest';
import { injectCaFromSecretAnnotation } from '../../../src/extensionconfig/index.ts';
import { type WatchingOptions, watchCluster } from '../../../src/policy/cluster-facts/index.ts';
import type { FactKind } from '../../../src/policy/index.ts';
import { requestFor } from '../admission/policy.ts';
import { example, exampleSecret } from '../rules/examples.ts';
import { type Scripted, startScripted } from './scripted.ts';

const within = { timeout: 20_000, interval: 10 };
const pace: NonNullable<WatchingOptions['pace']> = { watchMs: 60_000, graceMs: 300, minRetryMs: 20, maxRetryMs: 40 };
const classes = '/apis/cluster.x-k8s.io/v1beta2/clusterclasses';
const configs = '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs';
const secret = '/api/v1/namespaces/capi-extensions/secrets/my-extension-cert';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) {
    await cleanup();
  }
});

async function scripted(): Promise<Scripted> {
  const server = await startScripted();
  cleanups.push(() => server.stop());
  return server;
}

/** Facts about a server, and each problem that is reported: `KIND: problem`. */
function follow({ config }: Scripted) {
  const problems: string[] = [];
  const onProblem = (kind: FactKind, problem: string | undefined) => problems.push(`${kind}: ${problem ?? 'none'}`);
  const watching = watchCluster({ config, onProblem, pace });
  cleanups.push(() => watching.stop());
  return { watching, problems };
}

test('an error of the API server is a problem of its kind, reported once, which ends with the error', async () => {
  const server = await scripted();
  server.served.add(classes).add(configs);
  server.errors.set(classes, 500);
  const { watching, problems } = follow(server);
  const problem = `clusterclasses.cluster.x-k8s.io: refused by the test: ${classes}`;
  await vi.waitFor(() => expect(watching.status('ClusterClass').problem).toBe(problem), within);
  await vi.waitFor(() => expect(watching.status('ExtensionConfig').isKnown).toBe(true), within);
  const before = server.asked.get(classes) ?? 0;
  await vi.waitFor(() => expect(server.asked.get(classes)).toBeGreaterThan(before + 5), within);
  expect(problems).toEqual([`ClusterClass: ${problem}`]);
  expect(watching.read().unknown).toEqual(['ClusterClass']);
  server.errors.clear();
  await watching.synced;
  await vi.waitFor(() => expect(problems.slice(1)).toEqual(['ClusterClass: none']), within);
  expect(watching.status('ClusterClass')).toMatchObject({ isKnown: true, problem: undefined });
});

test('a Secret that cannot be read is unknown for its decision, which is reported once', async () => {
  const server = await scripted();
  server.errors.set(secret, 403);
  const { watching, problems } = follow(server);
  await watching.synced;
  const request = requestFor(example());
  const forbidden = [await watching.refresh(request), await watching.refresh(request)];
  expect(forbidden.map((known) => known?.unknown)).toEqual([['Secret'], ['Secret']]);
  expect(forbidden[0]?.facts.secrets).toBeUndefined();
  expect(problems).toEqual([expect.stringMatching(/^Secret: forbidden: the permission to get secrets /)]);
  expect(watching.status('Secret')).toMatchObject({ isKnown: false, problem: problems[0]?.slice('Secret: '.length) });
  server.errors.clear();
  server.objects.set(secret, exampleSecret());
  expect((await watching.refresh(request))?.unknown).toEqual([]);
  expect(problems.slice(1)).toEqual(['Secret: none']);
});

test('a Secret that the API server does not send in time is unknown for its decision', async () => {
  const server = await scripted();
  server.silent.add(secret);
  const { watching, problems } = follow(server);
  await watching.synced;
  expect((await watching.refresh(requestFor(example())))?.unknown).toEqual(['Secret']);
  expect(problems).toEqual(['Secret: secrets: no answer from the API server within 1000 ms']);
});

test('beyond 32 at once, nothing is known about further Secrets', async () => {
  const server = await scripted();
  server.silent.add(secret);
  const { watching } = follow(server);
  await watching.synced;
  const request = requestFor(example({ clientConfig: { url: 'https://a' } }));
  const waiting = Array.from({ length: 32 }, () => watching.refresh(request));
  const ended: string[] = [];
  const others = Promise.all(waiting.map((one) => one?.then(() => ended.push('another'))));
  expect((await watching.refresh(request))?.unknown).toEqual(['Secret']);
  expect(ended).toEqual([]);
  await others;
});

test.each<[string, Parameters<typeof requestFor>]>([
  ['a deletion', [undefined, { operation: 'DELETE', oldObject: example() }]],
  ['a write of the status', [example(), { subResource: 'status' }]],
  ['an object that names no Secret', [example({ annotations: {}, clientConfig: { url: 'https://a' } })]],
  ['an invalid annotation', [example({ annotations: { [injectCaFromSecretAnnotation]: '../x' }, clientConfig: {} })]],
  ['an invalid Service', [example({ annotations: {}, clientConfig: { service: { namespace: 'a', name: '../x' } } })]],
  ['fields of the wrong type', [{ ...example(), metadata: 'x', spec: { clientConfig: { service: 7 } } }]],
])('%s reads nothing', async (_, request) => {
  const server = await scripted();
  const { watching } = follow(server);
  await watching.synced;
  expect(watching.refresh(requestFor(...request))).toBeUndefined();
});

test('the age of the facts is that of the kind that was confirmed longest ago', async () => {
  const server = await scripted();
  server.served.add(classes).add(configs).add('/apis/cluster.x-k8s.io/v1beta2/clusters');
  const { watching } = follow(server);
  await watching.synced;
  await vi.waitFor(() => expect(server.watches.size).toBe(5), within);
  const confirmedAt = (kind: FactKind) => performance.now() - (watching.status(kind).ageMs ?? Number.NaN);
  const before = performance.now();
  expect(confirmedAt('ClusterClass')).toBeLessThan(before);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const bookmark = { type: 'BOOKMARK', object: { metadata: { resourceVersion: '5' } } };
  for (const [path, watch] of server.watches) {
    watch.write(path === classes ? '' : `${JSON.stringify(bookmark)}\n`);
  }
  await vi.waitFor(() => expect(confirmedAt('Service')).toBeGreaterThan(before + 45), within);
  const { ageMs = Number.NaN } = watching.read();
  expect(performance.now() - ageMs).toBeLessThan(before);
});

test('a watch that is stopped at once sends no requests', async () => {
  const server = await scripted();
  follow(server).watching.stop();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([...server.asked.keys()]).toEqual([]);
  expect(server.watches.size).toBe(0);
});

test('after stop nothing is watched, requested or reported', async () => {
  const server = await scripted();
  server.served.add(configs);
  server.lists.set(configs, [example()]);
  const { watching, problems } = follow(server);
  await watching.synced;
  await vi.waitFor(() => expect(server.watches.size).toBe(3), within);
  const before = problems.length;
  watching.stop();
  await vi.waitFor(() => expect(server.watches.size).toBe(0), within);
  const asked = [...server.asked.values()].reduce((sum, count) => sum + count, 0);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect([...server.asked.values()].reduce((sum, count) => sum + count, 0)).toBe(asked);
  expect([server.watches.size, problems.length]).toEqual([0, before]);
  // Facts that were known stay known.
  expect(watching.read().unknown).toEqual([]);
});
