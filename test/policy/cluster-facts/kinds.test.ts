import { afterEach, expect, test, vi } from 'vitest';
import { injectCaFromSecretAnnotation } from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type WatchingPace, watchCluster } from '../../../src/policy/cluster-facts/index.ts';
import type { FactKind } from '../../../src/policy/index.ts';
import { requestFor } from '../admission/policy.ts';
import { example, exampleSecret } from '../rules/examples.ts';
import { type Scripted, startScripted } from './scripted.ts';

const within = { timeout: 20_000, interval: 2 };
const pace: Partial<WatchingPace> = {
  informers: { watchMs: 60_000, graceMs: 300, minRetryMs: 20, maxRetryMs: 40 },
  versionsMs: 10,
};
const beta1 = '/apis/cluster.x-k8s.io/v1beta1';
const beta2 = '/apis/cluster.x-k8s.io/v1beta2';
const configs = '/apis/runtime.cluster.x-k8s.io/v1beta2';
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
function follow({ config }: Scripted, more: Partial<WatchingPace> = {}) {
  const problems: string[] = [];
  const onProblem = (kind: FactKind, problem: string | undefined) => problems.push(`${kind}: ${problem ?? 'none'}`);
  const watching = watchCluster({ config, onProblem, pace: { ...pace, ...more } });
  cleanups.push(() => watching.stop());
  return { watching, problems };
}

const clusterClass = (name: string): JsonObject => ({
  metadata: { name, namespace: 'clusters', uid: name, resourceVersion: '1' },
});
const times = (server: Scripted, path: string) => server.asked.get(path) ?? 0;

/** Waits until a path has been requested this many times more. */
async function askedAgain(server: Scripted, path: string, count: number): Promise<void> {
  const before = times(server, path);
  await vi.waitFor(() => expect(times(server, path)).toBeGreaterThanOrEqual(before + count), within);
}

test('a kind is gone after its API was not served three times in a row, and not before', async () => {
  const server = await scripted();
  server.versions.set(beta2, ['clusterclasses', 'clusters']);
  server.lists.set(`${beta2}/clusterclasses`, [clusterClass('a')]);
  const { watching, problems } = follow(server);
  await watching.synced;
  // It is absent two times out of three. ClusterClasses and Clusters share a version, so that it is requested twice.
  let asked = 0;
  server.misses = (path) => path === beta2 && Math.floor(asked++ / 2) % 3 !== 0;
  await vi.waitFor(() => expect(asked).toBeGreaterThan(24), within);
  expect(watching.status('ClusterClass')).toMatchObject({ objects: 1, isKnown: true });
  server.misses = () => false;
  await askedAgain(server, beta2, 4);
  asked = 0;
  server.misses = (path) => path === beta2 && ++asked > 0;
  await vi.waitFor(() => expect(watching.status('ClusterClass').objects).toBe(0), within);
  expect(asked).toBeGreaterThanOrEqual(5);
  expect(watching.status('ClusterClass')).toMatchObject({ isKnown: true, problem: undefined });
  await vi.waitFor(() => expect(server.watches.has(`${beta2}/clusterclasses`)).toBe(false), within);
  expect(problems).toEqual([]);
});

test('when a preferred version is served it is watched, and the other one no longer', async () => {
  const server = await scripted();
  server.versions.set(beta1, ['clusterclasses', 'clusters']);
  server.lists.set(`${beta1}/clusterclasses`, [clusterClass('a'), clusterClass('b')]);
  server.lists.set(`${beta2}/clusterclasses`, [clusterClass('a')]);
  const { watching, problems } = follow(server);
  await watching.synced;
  expect(watching.status('ClusterClass').objects).toBe(2);
  await vi.waitFor(() => expect(server.watches.has(`${beta1}/clusterclasses`)).toBe(true), within);
  server.versions.set(beta2, ['clusterclasses', 'clusters']);
  await vi.waitFor(() => expect(server.watches.has(`${beta2}/clusterclasses`)).toBe(true), within);
  expect(watching.status('ClusterClass').objects).toBe(1);
  await vi.waitFor(() => expect(server.watches.has(`${beta1}/clusterclasses`)).toBe(false), within);
  expect(problems).toEqual([]);
  // It has one watch, however often its version is found again.
  const lists = times(server, `${beta2}/clusterclasses`);
  await askedAgain(server, beta2, 3);
  expect(times(server, `${beta2}/clusterclasses`)).toBe(lists);
});

test('an API server that does not report its versions is a problem for kinds that are not watched yet, reported once', async () => {
  const server = await scripted();
  server.versions.set(configs, ['extensionconfigs']);
  server.errors.set(beta2, 500);
  const { watching, problems } = follow(server);
  const problem = (plural: string) => `${plural}.cluster.x-k8s.io: refused by the test: ${beta2}`;
  await vi.waitFor(() => expect(watching.status('ClusterClass').problem).toBe(problem('clusterclasses')), within);
  await vi.waitFor(() => expect(watching.status('ExtensionConfig').isKnown).toBe(true), within);
  server.errors.set(configs, 500);
  await askedAgain(server, beta2, 10);
  expect(problems.toSorted()).toEqual([
    `Cluster: ${problem('clusters')}`,
    `ClusterClass: ${problem('clusterclasses')}`,
  ]);
  expect(watching.read().unknown).toEqual(['ClusterClass', 'Cluster']);
  expect(watching.status('ExtensionConfig')).toMatchObject({ isKnown: true, problem: undefined });
});

test('that problem ends once the kind is watched', async () => {
  const server = await scripted();
  server.versions.set(beta2, ['clusterclasses', 'clusters']);
  server.errors.set(beta2, 500);
  const { watching, problems } = follow(server);
  await vi.waitFor(() => expect(problems).toHaveLength(2), within);
  server.errors.clear();
  await watching.synced;
  await vi.waitFor(() => expect(problems.slice(2).toSorted()).toEqual(['Cluster: none', 'ClusterClass: none']), within);
  expect(watching.status('ClusterClass').problem).toBeUndefined();
});

test('the problem of a version that is no longer served ends once the next one is watched', async () => {
  const server = await scripted();
  server.versions.set(beta1, ['clusterclasses', 'clusters']);
  const { watching, problems } = follow(server);
  await vi.waitFor(() => expect(server.watches.size).toBe(4), within);
  server.errors.set(`${beta1}/clusterclasses`, 404);
  server.watches.get(`${beta1}/clusterclasses`)?.destroy();
  await vi.waitFor(() => expect(problems.at(-1)).toMatch(/^ClusterClass: .*refused/), within);
  server.versions.delete(beta1);
  server.versions.set(beta2, ['clusterclasses', 'clusters']);
  await vi.waitFor(() => expect(problems.at(-1)).toBe('ClusterClass: none'), within);
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
  const { watching, problems } = follow(server, { versionsMs: 60_000 });
  await watching.synced;
  const before = performance.now();
  expect((await watching.refresh(requestFor(example())))?.unknown).toEqual(['Secret']);
  expect(performance.now() - before).toBeLessThan(3_000);
  expect(problems).toEqual(['Secret: secrets: no answer from the API server within 1000 ms']);
});

test('beyond 32 at once, nothing is known about further Secrets', async () => {
  const server = await scripted();
  server.silent.add(secret);
  const { watching } = follow(server, { versionsMs: 60_000 });
  await watching.synced;
  const request = requestFor(example({ clientConfig: { url: 'https://a' } }));
  const waiting = Array.from({ length: 32 }, () => watching.refresh(request));
  const before = performance.now();
  expect((await watching.refresh(request))?.unknown).toEqual(['Secret']);
  expect(performance.now() - before).toBeLessThan(500);
  await Promise.all(waiting);
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
  const { watching } = follow(server, { versionsMs: 60_000 });
  await watching.synced;
  await vi.waitFor(() => expect(server.watches.size).toBe(2), within);
  const confirmedAt = (kind: FactKind) => performance.now() - (watching.status(kind).ageMs ?? Number.NaN);
  const before = performance.now();
  expect(confirmedAt('ClusterClass')).toBeLessThan(before);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const bookmark = { type: 'BOOKMARK', object: { metadata: { resourceVersion: '5' } } };
  for (const [, watch] of server.watches) {
    watch.write(`${JSON.stringify(bookmark)}\n`);
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
  server.versions.set(configs, ['extensionconfigs']);
  server.lists.set(`${configs}/extensionconfigs`, [example()]);
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
