import { request as httpsRequest, type RequestOptions } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
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
