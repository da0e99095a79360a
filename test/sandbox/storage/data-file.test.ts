import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/index.ts';
import { DataFile } from '../../../src/sandbox/storage/data-file.ts';
import { Store } from '../../../src/sandbox/storage/store.ts';
import { eventually, send } from '../client.ts';

const folder = mkdtempSync(join(tmpdir(), 'data-file-'));
afterAll(() => rmSync(folder, { recursive: true }));

const urlOf = (file: string) => JSON.stringify(new URL(`../../../src/sandbox/storage/${file}`, import.meta.url));
/** Writes without end, and prints what has been written after each write: the version and the content of the store. */
const writer = `
import { writeSync } from 'node:fs';
const { DataFile } = await import(${urlOf('data-file.ts')});
const { Store } = await import(${urlOf('store.ts')});
const store = new Store(10, new DataFile(process.argv[1]));
for (let round = 0; ; round++) {
  const collection = store.collection('c' + (round % 3));
  const key = '/' + (round * 7919) % 11;
  const known = collection.get(key);
  if (known === undefined) {
    collection.create(key, { metadata: {}, round });
  } else if (round % 2 === 0) {
    collection.replace(key, known, { metadata: {}, round });
  } else {
    collection.delete(key, known);
  }
  writeSync(1, JSON.stringify([store.version, ['c0', 'c1', 'c2'].map((name) => store.collection(name).list())]) + '\\n');
}`;

function contentOf(file: string): string {
  const data = new DataFile(file);
  const store = new Store(10, data);
  const content = [store.version, ['c0', 'c1', 'c2'].map((name) => store.collection(name).list())];
  data.close();
  return JSON.stringify(content);
}

test('killed at any write, nothing that was acknowledged is lost', { timeout: 60_000 }, async () => {
  const file = join(folder, 'killed');
  for (const writes of [1, 2, 5, 17, 40, 3]) {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', writer, file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const seen: string[] = [];
    const lines = createInterface(child.stdout).on('line', (line) => {
      seen.push(line);
      if (seen.length === writes) {
        child.kill('SIGKILL');
      }
    });
    await Promise.all([once(child, 'exit'), once(lines, 'close')]);
    const content = contentOf(file);
    const acknowledged = seen.at(-1) as string;
    // One more write may have been finished and not been printed yet.
    const [[version], [known]] = [JSON.parse(content), JSON.parse(acknowledged)] as [[number], [number]];
    expect(version - known).toBeOneOf([0, 1]);
    expect(version === known ? content : acknowledged).toBe(acknowledged);
  }
});

test('a file that was killed while it was created is a new one', () => {
  const file = join(folder, 'empty');
  writeFileSync(file, '');
  expect(contentOf(file)).toBe('[1,[[],[],[]]]');
});

test('a new file can be read by its owner only', () => {
  const file = join(folder, 'mode');
  contentOf(file);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test.each<[string, (file: string) => void, RegExp]>([
  ['a text', (file) => writeFileSync(file, 'notes'), /was not written by a sandbox; name another file/],
  [
    'the database of another program',
    (file) => {
      const database = new DatabaseSync(file);
      database.exec('CREATE TABLE objects (a); INSERT INTO objects VALUES (1)');
      database.close();
    },
    /was not written by a sandbox; name another file/,
  ],
  [
    'the file of another version',
    (file) => {
      contentOf(file);
      const database = new DatabaseSync(file);
      database.exec('PRAGMA user_version = 99; PRAGMA journal_mode = DELETE');
      database.close();
    },
    /was written by another version of this program/,
  ],
])('%s is refused, and not changed', (name, make, message) => {
  const file = join(folder, name);
  make(file);
  const before = readFileSync(file);
  expect(() => new DataFile(file)).toThrow(message);
  expect(readFileSync(file).equals(before)).toBe(true);
});

test('a folder, and a file in a folder that does not exist', () => {
  mkdirSync(join(folder, 'folder'));
  expect(() => new DataFile(join(folder, 'folder'))).toThrow('is not a file');
  expect(() => new DataFile(join(folder, 'missing', 'file'))).toThrow(/cannot be opened: ENOENT/);
});

test('a file can be used by one sandbox at a time', () => {
  const file = join(folder, 'shared');
  const first = new DataFile(file);
  expect(() => new DataFile(file)).toThrow('is used by another sandbox');
  first.close();
  expect(contentOf(file)).toBe('[1,[[],[],[]]]');
});

test('a sandbox continues where the one before it was stopped', async () => {
  const data = join(folder, 'continued');
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const maps = '/api/v1/namespaces/mine/configmaps';
  const first = await startSandbox({ data });
  await send(first, 'POST', '/api/v1/namespaces', { body: { metadata: { name: 'mine' } } });
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const spec = {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'gadgets', kind: 'Gadget' },
    versions: [{ name: 'v1', served: true, storage: true, schema }],
  };
  await send(first, 'POST', definitions, { body: { metadata: { name: 'gadgets.example.com' }, spec } });
  const gadgets = '/apis/example.com/v1/gadgets';
  await eventually(
    () => send(first, 'GET', gadgets),
    ({ status }) => status === 200,
  );
  await send(first, 'POST', gadgets, { body: { metadata: { name: 'one' }, size: 3 } });
  const made = await send(first, 'POST', maps, { body: { metadata: { name: 'one' }, data: { a: 'b' } } });
  await first.stop();
  const second = await startSandbox({ data });
  expect((await send(second, 'GET', `${maps}/one`)).json).toEqual(made.json);
  const { json } = await eventually(
    () => send(second, 'GET', `${gadgets}/one`),
    ({ status }) => status === 200,
  );
  expect(json).toMatchObject({ size: 3 });
  // Versions continue, and watches from before the start are too old.
  const next = await send(second, 'POST', maps, { body: { metadata: { name: 'two' } } });
  const versionOf = (object: object) =>
    Number((object as { metadata: { resourceVersion: string } }).metadata.resourceVersion);
  expect(versionOf(next.json)).toBeGreaterThan(versionOf(made.json));
  const watch = await send(
    second,
    'GET',
    `${maps}?watch=true&resourceVersion=${versionOf(made.json) - 1}&timeoutSeconds=1`,
  );
  expect(watch.json).toMatchObject({ type: 'ERROR', object: { code: 410 } });
  // The CA is that of this sandbox.
  const authentication = await send(
    second,
    'GET',
    '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication',
  );
  expect(authentication.json.data).toMatchObject({ 'requestheader-client-ca-file': second.ca });
  await second.stop();
});
