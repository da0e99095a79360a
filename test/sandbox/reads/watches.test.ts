import { request as httpsRequest, type RequestOptions } from 'node:https';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { builtInResources } from '../../../src/sandbox/kinds/kinds.ts';
import { watch as watchStore } from '../../../src/sandbox/reads/watches.ts';
import type { Resource } from '../../../src/sandbox/resources/resource.ts';
import { Store } from '../../../src/sandbox/storage/store.ts';
import { VersionConverter } from '../../../src/sandbox/webhooks/conversion.ts';
import { WebhookCaller } from '../../../src/sandbox/webhooks/webhook-call.ts';
import { eventually, send } from '../client.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

const configMaps = '/api/v1/namespaces/default/configmaps';
/** The response to a write does not contain the data, which only the watches should receive. */
const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/** A watch on its own connection. `lines` counts what was read. */
async function watch(query = '') {
  const options: RequestOptions = {
    ca: sandbox.ca,
    headers: { authorization: `Bearer ${sandbox.token}` },
    agent: false,
  };
  const call = httpsRequest(new URL(`${configMaps}?watch=1${query}`, sandbox.url), options);
  const seen = { lines: 0, isOver: false };
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    call.on('response', resolve).on('error', reject).end();
  });
  const read = () =>
    response
      .on('data', (chunk: Buffer) => {
        for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) {
          seen.lines++;
        }
      })
      .on('close', () => {
        seen.isOver = true;
      })
      .on('error', () => {});
  return { seen, read, stop: () => call.destroy() };
}

test('a client that reads late misses nothing, and costs the others nothing', { timeout: 120_000 }, async () => {
  const late = await watch();
  const good = await watch();
  good.read();
  const text = 'x'.repeat(500_000);
  const object = { metadata: { name: 'changing' }, data: { text } };
  await send(sandbox, 'POST', configMaps, { body: object, headers: { accept } });
  const changes = 24;
  for (let i = 1; i < changes; i++) {
    const headers = { 'content-type': 'application/merge-patch+json', accept };
    const body = { data: { count: `${i}` } };
    expect((await send(sandbox, 'PATCH', `${configMaps}/changing`, { body, headers })).status).toBe(200);
  }
  await eventually(
    async () => good.seen.lines,
    (lines) => lines === changes,
  );
  late.read();
  await eventually(
    async () => late.seen.lines,
    (lines) => lines === changes,
  );
  expect(late.seen.isOver).toBe(false);
  late.stop();
  good.stop();
});

test('a write is one line in memory, however many watches send it', async () => {
  const store = new Store();
  const resource = builtInResources().find(({ kind }) => kind === 'ConfigMap') as Resource;
  const converter = new VersionConverter(new WebhookCaller(() => undefined));
  const context = { store, converter, now: () => '2026-06-01T00:00:00Z' };
  const request = { resource, namespace: '', name: '', query: new URLSearchParams(), view: { as: 'object' as const } };
  const sent: (string | Buffer)[] = [];
  const sink = {
    write: (line: string | Buffer) => sent.push(line) > 0,
    drained: async () => true,
    end() {},
    drop() {},
  };
  const ends = Array.from({ length: 3 }, () => watchStore(context, request, sink));
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } };
  store.collection(resource.storage).create('default/a', object);
  await vi.waitFor(() => expect(sent).toHaveLength(3));
  for (const end of ends) {
    end();
  }
  expect(JSON.parse(String(sent[0]))).toMatchObject({ type: 'ADDED', object });
  expect(new Set(sent).size).toBe(1);
  // Texts that are equal need not be one in memory.
  expect(sent[0]).toBeInstanceOf(Buffer);
});

test('a large collection is sent completely to a client that reads', async () => {
  const text = 'x'.repeat(1_000_000);
  for (let i = 0; i < 18; i++) {
    const body = { metadata: { name: `large-${i}` }, data: { text } };
    expect((await send(sandbox, 'POST', configMaps, { body, headers: { accept } })).status).toBe(201);
  }
  const watcher = await watch('&labelSelector=!absent');
  await new Promise((resolve) => setTimeout(resolve, 200));
  watcher.read();
  await eventually(
    async () => watcher.seen.lines,
    (lines) => lines >= 18,
  );
  expect(watcher.seen.isOver).toBe(false);
  watcher.stop();
});

test('the history of a large object does not fill the memory', () => {
  const collection = new Store().collection('a');
  const data = 'x'.repeat(1_000_000);
  let stored = collection.create('/a', { metadata: {}, data });
  for (let i = 0; i < 100; i++) {
    stored = collection.replace('/a', stored!, { metadata: {}, data: `${data}${i}` });
  }
  expect(collection.eventsAfter(1)).toBeUndefined();
  expect(collection.eventsAfter(collection.oldest)?.length).toBeLessThan(70);
  expect(collection.eventsAfter(100)).toHaveLength(2);
});

test('the store has a limit, and deleting makes room', () => {
  const store = new Store();
  const collection = store.collection('a');
  const data = 'x'.repeat(10_000_000);
  expect(() => {
    for (let i = 0; i < 100; i++) {
      collection.create(`/a${i}`, { metadata: {}, data });
    }
  }).toThrow('the sandbox stores at most 256 MiB; delete objects first');
  expect(collection.size).toBe(26);
  for (const [key, object] of collection.list()) {
    collection.delete(key, object);
  }
  expect(collection.create('/again', { metadata: {}, data })).toBeDefined();
});
