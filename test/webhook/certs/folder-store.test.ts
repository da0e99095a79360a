import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type CertificateStore, folderStore } from '../../../src/webhook/certs/index.ts';
import { Conflict } from '../../../src/webhook/certs/store.ts';

/** A folder that is removed after its test. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'certs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('swaps all files at once, keeps keys private, and rejects a stale write', async () => {
  const folder = join(temporaryFolder(), 'certs');
  const store = folderStore(folder);
  const write = (text: string, from: Awaited<ReturnType<typeof store.read>>) =>
    store.write('serving', { data: { 'tls.crt': text, 'tls.key': 'k' }, annotations: { a: text } }, from);
  await write('1', undefined);
  const first = await store.read('serving');
  await expect(write('x', undefined)).rejects.toThrow('changed by another run');
  for (let count = 2; count < 9; count++) {
    await write(String(count), await store.read('serving'));
  }
  await expect(write('x', first)).rejects.toThrow('changed by another run');
  expect(await store.read('serving')).toMatchObject({ data: { 'tls.crt': '8' }, annotations: { a: '8' } });
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, 'tls.key')).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).filter((name) => name.startsWith('..v'))).toHaveLength(4);
});

test('a folder that cannot be read or written is an error that says why and what to do, and no key is left behind', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'file'), 'precious');
  const remedy = 'choose a folder that this user can write to';
  const contents = { data: { 'tls.key': 'k' }, annotations: {} };
  await expect(folderStore(join(folder, 'file')).read('serving')).rejects.toThrow(
    `${join(folder, 'file')} cannot be read: a part of the path is not a folder: ${remedy}`,
  );
  await expect(folderStore('/proc/certs').write('serving', contents, undefined)).rejects.toThrow(
    `/proc/certs cannot be written: a folder cannot be created there, or a link in the path is broken: ${remedy}`,
  );
  const long = { data: { 'tls.key': 'k', ['n'.repeat(300)]: '' }, annotations: {} };
  await expect(folderStore(folder).write('serving', long, undefined)).rejects.toThrow(
    `${folder} cannot be written: the name is too long: ${remedy}`,
  );
  expect(readdirSync(folder)).toEqual(['file']);
});

test('removes nothing that it did not create, and follows no link out of its folder', async () => {
  const folder = temporaryFolder();
  const elsewhere = temporaryFolder();
  const store = folderStore(folder);
  const contents = { data: { 'tls.crt': 'c', 'tls.key': 'k' }, annotations: {} };
  writeFileSync(join(folder, 'tls.key'), 'precious');
  await expect(store.write('serving', contents, undefined)).rejects.toThrow(
    `${join(folder, 'tls.key')} was not created by this command: move it away, or choose another folder`,
  );
  expect(readFileSync(join(folder, 'tls.key'), 'utf8')).toBe('precious');
  rmSync(join(folder, 'tls.key'));
  execFileSync('mkfifo', [join(folder, 'tls.key')]);
  await expect(store.write('serving', contents, undefined)).rejects.toThrow('was not created by this command');
  rmSync(join(folder, 'tls.key'));
  writeFileSync(join(folder, 'other.key'), 'precious');
  await store.write('serving', contents, undefined);
  expect(readFileSync(join(folder, 'other.key'), 'utf8')).toBe('precious');

  writeFileSync(join(elsewhere, 'ca.key'), 'secret');
  symlinkSync(elsewhere, join(folder, '..v9'));
  await expect(store.read('serving')).rejects.toThrow('..v9 is not a folder');
  rmSync(join(folder, '..v9'));
  symlinkSync(elsewhere, join(folder, 'ca'));
  await expect(store.write('ca', contents, undefined)).rejects.toThrow('ca is not a folder');
  expect(readdirSync(elsewhere)).toEqual(['ca.key']);
});

test('rejects a FIFO in a version, and publishes a version that a killed run did not', async () => {
  const folder = temporaryFolder();
  const store = folderStore(folder);
  await store.write('serving', { data: { 'tls.crt': '1', 'tls.key': 'k' }, annotations: {} }, undefined);
  await store.write(
    'serving',
    { data: { 'tls.crt': '2', 'tls.key': 'k' }, annotations: {} },
    await store.read('serving'),
  );
  rmSync(join(folder, '..data'));
  symlinkSync('..v1', join(folder, '..data'));
  expect((await store.read('serving'))?.data['tls.crt']).toBe('2');
  expect(readFileSync(join(folder, 'tls.crt'), 'utf8')).toBe('2');
  rmSync(join(folder, '..v2', 'tls.key'));
  execFileSync('mkfifo', [join(folder, '..v2', 'tls.key')]);
  await expect(store.read('serving')).rejects.toThrow('tls.key is a FIFO, not a regular file');
});

const mode = (...path: string[]) => statSync(join(...path)).mode & 0o777;
/** Overwrites an existing file. */
async function write(
  store: CertificateStore,
  data: Record<string, string>,
  annotations: Record<string, string> = {},
  role: 'ca' | 'serving' = 'serving',
): Promise<void> {
  await store.write(role, { data, annotations }, await store.read(role));
}

test('keeps the serving certificate in the folder and the CA below it, readable only by the owner', async () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  const store = folderStore(folder);
  expect([store.describe('serving'), store.describe('ca')]).toEqual([`folder ${folder}`, `folder ${folder}/ca`]);
  expect(await store.read('serving')).toBeUndefined();
  expect(await store.read('ca')).toBeUndefined();
  await write(store, { 'tls.crt': 'c', 'tls.key': 'k', 'ca.crt': 'b' }, { a: '1' });
  await write(store, { 'ca.crt': 'x', 'ca.key': 'y' }, {}, 'ca');
  expect(await store.read('serving')).toEqual({
    data: { 'tls.crt': 'c', 'tls.key': 'k', 'ca.crt': 'b' },
    annotations: { a: '1' },
    version: '1',
  });
  expect(await store.read('ca')).toEqual({ data: { 'ca.crt': 'x', 'ca.key': 'y' }, annotations: {}, version: '1' });
  expect(readFileSync(join(folder, 'ca', 'ca.key'), 'utf8')).toBe('y');
  expect([mode(folder), mode(folder, 'ca')]).toEqual([0o700, 0o700]);
  expect([mode(folder, 'tls.key'), mode(folder, 'tls.crt'), mode(folder, 'ca.crt')]).toEqual([0o600, 0o644, 0o644]);
  expect([readlinkSync(join(folder, '..data')), readlinkSync(join(folder, 'tls.crt'))]).toEqual([
    '..v1',
    '..data/tls.crt',
  ]);
  // Nothing else is left.
  expect(readdirSync(folder).sort()).toEqual(['..data', '..v1', 'ca', 'ca.crt', 'tls.crt', 'tls.key']);
});

test('skips names that cannot be file names', async () => {
  const folder = temporaryFolder();
  const store = folderStore(folder);
  await write(store, { 'tls.crt': 'c', '../escape': 'x', 'a/b': 'x', ü: 'x', '': 'x', 'A-b_c.1': 'kept' });
  expect((await store.read('serving'))?.data).toEqual({ 'tls.crt': 'c', 'A-b_c.1': 'kept' });
});

test('removes a file that is no longer written, and keeps files that are not ours', async () => {
  const folder = temporaryFolder();
  const store = folderStore(folder);
  await write(store, { 'tls.crt': 'c', 'old.crt': 'o' });
  writeFileSync(join(folder, 'theirs'), 'x');
  symlinkSync('elsewhere', join(folder, 'link'));
  await write(store, { 'tls.crt': 'd' });
  expect(readdirSync(folder).sort()).toEqual(['..data', '..v1', '..v2', 'link', 'theirs', 'tls.crt']);
  expect(await store.read('serving')).toMatchObject({ data: { 'tls.crt': 'd' }, version: '2' });
});

test('keeps the last four versions, and sorts version 10 after 9', async () => {
  const folder = temporaryFolder();
  const store = folderStore(folder);
  for (let count = 1; count <= 11; count++) {
    await write(store, { 'tls.crt': String(count) });
  }
  expect((await store.read('serving'))?.version).toBe('11');
  const names = readdirSync(folder).filter((name) => name.startsWith('..v'));
  expect(names.sort()).toEqual(['..v10', '..v11', '..v8', '..v9']);
  // A name that only looks like a version is not one.
  for (const name of ['..v0', '..vx', '..v1234567890123', 'x..v99', '..v99x']) {
    mkdirSync(join(folder, name));
  }
  expect((await store.read('serving'))?.version).toBe('11');
});

test('a write based on old state is a conflict that leaves nothing behind', async () => {
  const folder = temporaryFolder();
  const store = folderStore(folder);
  const contents = { data: { 'tls.crt': 'late' }, annotations: {} };
  await write(store, { 'tls.crt': '1' });
  const first = await store.read('serving');
  for (let count = 2; count <= 7; count++) {
    await write(store, { 'tls.crt': String(count) });
  }
  const before = readdirSync(folder).sort();
  const conflict = new Conflict(`${folder} was changed by another run`);
  // The version after `first` has been removed; the one after no version never existed; the one after 6 still exists.
  for (const from of [first, undefined, { data: {}, annotations: {}, version: '6' }]) {
    const written = store.write('serving', contents, from);
    await expect(written).rejects.toThrow(conflict);
    await expect(written).rejects.toBeInstanceOf(Conflict);
    expect(readdirSync(folder).sort()).toEqual(before);
  }
  expect((await store.read('serving'))?.data).toEqual({ 'tls.crt': '7' });
});

test('of concurrent writes one wins', async () => {
  const folder = temporaryFolder();
  const store = folderStore(folder);
  await write(store, { 'tls.crt': '1' });
  const from = await store.read('serving');
  const results = await Promise.allSettled(
    ['a', 'b', 'c'].map((text) => store.write('serving', { data: { 'tls.crt': text }, annotations: {} }, from)),
  );
  const lost = results.filter(({ status }) => status === 'rejected');
  expect(lost.map((result) => (result as PromiseRejectedResult).reason)).toEqual(Array(2).fill(expect.any(Conflict)));
  expect((await store.read('serving'))?.version).toBe('2');
});

test('a version that cannot be created is a file system error, with nothing left behind', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, '..v1'), 'a file');
  const store = folderStore(folder);
  const written = store.write('serving', { data: { 'tls.crt': 'c' }, annotations: {} }, undefined);
  await expect(written).rejects.toMatchObject({ cause: { code: 'ENOTDIR' } });
  expect(readdirSync(folder)).toEqual(['..v1']);
  await expect(store.read('serving')).rejects.toThrow(`${folder}/..v1 is not a folder: move it away`);
});

test('annotations that are not text are skipped, and unreadable ones count as none', async () => {
  const folder = temporaryFolder();
  const store = folderStore(folder);
  await write(store, { 'tls.crt': 'c' }, { a: 'b' });
  const file = join(folder, '..v1', '.annotations.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ a: 'b' });
  for (const [text, annotations] of [
    ['{"a":"b","c":1}', { a: 'b' }],
    ['["a"]', {}],
    ['{"a":', {}],
  ] as const) {
    writeFileSync(file, text);
    expect(await store.read('serving')).toMatchObject({ data: { 'tls.crt': 'c' }, annotations });
  }
  rmSync(file);
  expect((await store.read('serving'))?.annotations).toEqual({});
});

test('a file of more than 1 MiB is an error', async () => {
  const folder = temporaryFolder();
  const store = folderStore(folder);
  await write(store, { 'tls.crt': 'x'.repeat(1024 * 1024) });
  expect((await store.read('serving'))?.data['tls.crt']).toHaveLength(1024 * 1024);
  writeFileSync(join(folder, '..v1', 'tls.crt'), 'x'.repeat(1024 * 1024 + 1));
  await expect(store.read('serving')).rejects.toThrow('tls.crt is larger than 1 MiB');
});

test('rejects a folder with more than 1,000 files', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, '0'), '');
  for (let count = 1; count < 1000; count++) {
    linkSync(join(folder, '0'), join(folder, String(count)));
  }
  const store = folderStore(folder);
  expect(await store.read('serving')).toBeUndefined();
  writeFileSync(join(folder, 'one more'), '');
  await expect(store.read('serving')).rejects.toThrow(`${folder} has more than 1000 files: choose a separate folder`);
});

test('removes drafts of killed runs after ten minutes', async () => {
  const folder = temporaryFolder();
  const store = folderStore(folder);
  const aged = (name: string, minutes: number) => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'tls.key'), 'k');
    const time = Date.now() / 1000 - minutes * 60;
    utimesSync(join(folder, name), time, time);
  };
  aged('..draft-old', 11);
  aged('..draft-new', 9);
  aged('draft-of-others', 11);
  await write(store, { 'tls.crt': 'c' });
  expect(readdirSync(folder).sort()).toEqual(['..data', '..draft-new', '..v1', 'draft-of-others', 'tls.crt']);
});

test("does not publish a killed run's version over foreign files", async () => {
  const folder = temporaryFolder();
  const store = folderStore(folder);
  await write(store, { 'tls.crt': '1' });
  mkdirSync(join(folder, '..v2'));
  writeFileSync(join(folder, '..v2', 'tls.crt'), '2');
  writeFileSync(join(folder, '..v2', 'other'), '2');
  writeFileSync(join(folder, 'other'), 'precious');
  const problem = `${folder}/other was not created by this command: move it away, or choose another folder`;
  await expect(store.read('serving')).rejects.toThrow(problem);
  expect(readlinkSync(join(folder, '..data'))).toBe('..v1');
  rmSync(join(folder, 'other'));
  symlinkSync('/etc/hostname', join(folder, 'other'));
  await expect(store.read('serving')).rejects.toThrow(problem);
  rmSync(join(folder, 'other'));
  expect(await store.read('serving')).toEqual({ data: { 'tls.crt': '2', other: '2' }, annotations: {}, version: '2' });
  expect(readlinkSync(join(folder, '..data'))).toBe('..v2');
  expect(readFileSync(join(folder, 'other'), 'utf8')).toBe('2');
  // Read again, nothing needs repair.
  const made = lstatSync(join(folder, '..data')).ino;
  await store.read('serving');
  expect(lstatSync(join(folder, '..data')).ino).toBe(made);
});

test('the folder may be a link, that of the CA may not', async () => {
  const folder = temporaryFolder();
  const link = join(temporaryFolder(), 'link');
  symlinkSync(folder, link);
  await write(folderStore(link), { 'tls.crt': 'c' });
  expect(existsSync(join(folder, 'tls.crt'))).toBe(true);
});

/** Writes into a folder until a file's renaming, which never ends, like the rest; whether there were so many. */
async function stoppedAt(folder: string, renames: number, text: string): Promise<boolean> {
  const { rename } = promises;
  const stopped = Promise.withResolvers<boolean>();
  let left = renames;
  promises.rename = (...names) => {
    if (left-- > 0) {
      return rename(...names);
    }
    stopped.resolve(true);
    return new Promise(() => {});
  };
  syncBuiltinESMExports();
  try {
    const store = folderStore(folder);
    const data = { 'tls.crt': text, 'tls.key': text, 'ca.crt': text };
    const written = store.write('serving', { data, annotations: {} }, await store.read('serving'));
    return await Promise.race([stopped.promise, written.then(() => false)]);
  } finally {
    promises.rename = rename;
    syncBuiltinESMExports();
  }
}

test('after a run that was killed at any time of a write, the next read finds all files, old or new', async () => {
  const found: (string | undefined)[][] = [[], []];
  for (let renames = 0, isStopped = true; isStopped; renames++) {
    const folder = temporaryFolder();
    for (const [round, files] of found.entries()) {
      isStopped = await stoppedAt(folder, renames, String(round));
      const stored = await folderStore(folder).read('serving');
      const names = ['tls.crt', 'tls.key', 'ca.crt'];
      const texts = names.map((name) => {
        const path = join(folder, name);
        return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
      });
      expect(texts, `stopped after ${renames} renames`).toEqual(names.map((name) => stored?.data[name]));
      files.push(stored?.data['tls.crt']);
    }
  }
  // A version that was created, which is the first renaming, is the one that counts.
  expect(found).toEqual([
    [undefined, '0', '0', '0', '0', '0'],
    [undefined, '1', '1', '1', '1', '1'],
  ]);
});
