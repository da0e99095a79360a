import { request as httpsRequest, type RequestOptions } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { eventually, send } from '../client.ts';

const history = 12;
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ history });
});
afterAll(() => sandbox.stop());

const configMaps = '/api/v1/namespaces/default/configmaps';
/** The response to a write does not contain the data, which only the watches should receive. */
const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

const linesIn = (text: string) =>
  text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as { type: string; object: JsonObject }]));

/** A watch on its own connection, whose lines wait until `read` is called. */
async function watch(query = '') {
  const options: RequestOptions = {
    ca: sandbox.ca,
    headers: { authorization: `Bearer ${sandbox.token}` },
    agent: false,
  };
  const call = httpsRequest(new URL(`${configMaps}?watch=1${query}`, sandbox.url), options);
  const seen = { lines: 0, text: '', isOver: false };
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    call.on('response', resolve).on('error', reject).end();
  });
  const read = () =>
    response
      .on('data', (chunk: Buffer) => {
        for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) {
          seen.lines++;
        }
        seen.text += chunk.toString();
      })
      .on('close', () => {
        seen.isOver = true;
      })
      .on('error', () => {});
  return { seen, read, stop: () => call.destroy() };
}

/** Writes a large object again and again. */
async function change(name: string, changes: number, size: number): Promise<void> {
  const body = { metadata: { name }, data: { text: 'x'.repeat(size) } };
  expect((await send(sandbox, 'POST', configMaps, { body, headers: { accept } })).status).toBe(201);
  const headers = { 'content-type': 'application/merge-patch+json', accept };
  for (let i = 1; i < changes; i++) {
    const body = { data: { count: `${i}` } };
    expect((await send(sandbox, 'PATCH', `${configMaps}/${name}`, { body, headers })).status).toBe(200);
  }
}

test('a client that reads late misses nothing, and costs the others nothing', async () => {
  const late = await watch();
  const good = await watch();
  good.read();
  await change('changing', history, 1_000_000);
  await eventually(
    async () => good.seen.lines,
    (lines) => lines === history,
  );
  late.read();
  await eventually(
    async () => late.seen.lines,
    (lines) => lines === history,
  );
  expect(late.seen.isOver).toBe(false);
  late.stop();
  good.stop();
});

test('a client that reads so late that the history lacks what comes next is told to begin again', async () => {
  const late = await watch();
  // More than the buffers of both ends hold, and the history then.
  await change('overtaking', 4 * history, 500_000);
  late.read();
  await eventually(
    async () => late.seen.isOver,
    (isOver) => isOver,
  );
  expect(late.seen.lines).toBeLessThan(4 * history);
  expect(linesIn(late.seen.text).at(-1)).toMatchObject({
    type: 'ERROR',
    object: { code: 410, reason: 'Expired' },
  });
});

test('a large collection is sent completely, and then what was written meanwhile', async () => {
  const names = Array.from({ length: 120 }, (_, i) => `small-${1000 + i}`);
  for (const name of names) {
    await send(sandbox, 'POST', configMaps, { body: { metadata: { name, labels: { a: 'b' } } } });
  }
  const watcher = await watch('&labelSelector=a%3Db&sendInitialEvents=true&allowWatchBookmarks=true');
  watcher.read();
  await send(sandbox, 'POST', configMaps, { body: { metadata: { name: 'later', labels: { a: 'b' } } } });
  await eventually(
    async () => watcher.seen.lines,
    (lines) => lines === names.length + 2,
  );
  watcher.stop();
  const sent = linesIn(watcher.seen.text).filter(({ type }) => type !== 'BOOKMARK');
  expect(sent.map(({ type, object }) => `${type} ${(object.metadata as JsonObject).name}`)).toEqual(
    [...names, 'later'].map((name) => `ADDED ${name}`),
  );
});

test('a watch ends at its timeout, with a bookmark if the client allows that; a table has its columns once', async () => {
  for (const name of ['table-1', 'table-2']) {
    await send(sandbox, 'POST', configMaps, { body: { metadata: { name, labels: { in: 'table' } } } });
  }
  const query = '&labelSelector=in%3Dtable&timeoutSeconds=1';
  const table = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
  const linesOf = async (more: string, headers = {}) =>
    linesIn((await send(sandbox, 'GET', `${configMaps}?watch=1${query}${more}`, { headers })).text);
  const [plain, bookmarked, tables] = await Promise.all([
    linesOf(''),
    linesOf('&allowWatchBookmarks=true'),
    linesOf('', table),
  ]);
  expect(plain.map(({ type }) => type)).toEqual(['ADDED', 'ADDED']);
  expect(bookmarked.map(({ type }) => type)).toEqual(['ADDED', 'ADDED', 'BOOKMARK']);
  const { object } = bookmarked[2]!;
  const { resourceVersion } = (await send(sandbox, 'GET', configMaps)).json.metadata as JsonObject;
  expect(object.metadata).toMatchObject({ resourceVersion });
  expect(tables.map((line) => (line.object.columnDefinitions as unknown[]).length > 0)).toEqual([true, false]);
});
