import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type CertificateStore, Conflict, folderStore } from '../../../src/webhook/certs/index.ts';

/** A folder that is removed after its test. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'certs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
const mode = (...path: string[]) => statSync(join(...path)).mode & 0o777;
const pair = { 'tls.crt': 'c', 'tls.key': 'k' };

/** Writes over what is there. */
async function write(
  store: CertificateStore,
  data: Record<string, string>,
  annotations = {},
  role = 'serving' as const,
) {
  await store.write(role, { data, annotations }, await store.read(role));
}

test('keeps the serving certificate in the folder and the CA below it; keys are readable only by the owner', async () => {
  const folder = join(temporaryFolder(), 'certs');
  const store = folderStore(folder);
  expect([store.describe('serving'), store.describe('ca')]).toEqual([`folder ${folder}`, `folder ${folder}/ca`]);
  expect([await store.read('serving'), await store.read('ca')]).toEqual([undefined, undefined]);
  await write(store, { ...pair, 'ca.crt': 'b' }, { a: '1' });
  await store.write('ca', { data: { 'ca.crt': 'x', 'ca.key': 'y' }, annotations: {} }, undefined);
  expect(await store.read('serving')).toMatchObject({ data: { ...pair, 'ca.crt': 'b' }, annotations: { a: '1' } });
  expect(await store.read('ca')).toMatchObject({ data: { 'ca.crt': 'x', 'ca.key': 'y' }, annotations: {} });
  expect([mode(folder), mode(folder, 'ca')]).toEqual([0o700, 0o700]);
  expect([mode(folder, 'tls.key'), mode(folder, 'ca/ca.key'), mode(folder, 'tls.crt')]).toEqual([0o600, 0o600, 0o644]);
  // Nothing else is left, and a file that is no longer written is removed.
  await write(store, pair);
  expect(readdirSync(folder).sort()).toEqual(['.annotations.json', 'ca', 'tls.crt', 'tls.key']);
});

test('the mode of a folder that was there stays, also through a link', async () => {
  const folder = temporaryFolder();
  const link = join(temporaryFolder(), 'link');
  symlinkSync(folder, link);
  mkdirSync(join(folder, 'ca'));
  chmodSync(folder, 0o755);
  chmodSync(join(folder, 'ca'), 0o750);
  for (const path of [folder, link]) {
    const store = folderStore(path);
    await write(store, pair);
    await store.write('ca', { data: { 'ca.key': 'y' }, annotations: {} }, await store.read('ca'));
    expect([mode(folder), mode(folder, 'ca')]).toEqual([0o755, 0o750]);
  }
});

test('a folder that cannot be read or written is an error that says why and what to do', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'file'), 'precious');
  const remedy = 'choose a folder that this user can write to';
  const contents = { data: { 'tls.key': 'k' }, annotations: {} };
  await expect(folderStore(join(folder, 'file')).write('serving', contents, undefined)).rejects.toThrow(
    `${join(folder, 'file')} cannot be written: it exists and is not a folder: ${remedy}`,
  );
  await expect(folderStore('/proc/certs').write('serving', contents, undefined)).rejects.toThrow(
    `/proc/certs cannot be written: a folder cannot be created there, or a link in the path is broken: ${remedy}`,
  );
});

test('replaces and removes nothing that it did not create', async () => {
  const folder = temporaryFolder();
  const store = folderStore(folder);
  writeFileSync(join(folder, 'tls.key'), 'precious');
  await expect(write(store, pair)).rejects.toThrow(
    `${join(folder, 'tls.key')} was not created by this command: move it away, or choose another folder`,
  );
  expect(readFileSync(join(folder, 'tls.key'), 'utf8')).toBe('precious');
  rmSync(join(folder, 'tls.key'));
  writeFileSync(join(folder, 'theirs'), 'x');
  await write(store, { ...pair, theirs: 'y' });
  expect(readFileSync(join(folder, 'theirs'), 'utf8')).toBe('x');
});

test('a file that is not regular or has over 1 MiB is an error', async () => {
  const folder = temporaryFolder();
  const store = folderStore(folder);
  await write(store, pair);
  rmSync(join(folder, 'tls.key'));
  execFileSync('mkfifo', [join(folder, 'tls.key')]);
  await expect(store.read('serving')).rejects.toThrow('tls.key is a FIFO, not a regular file');
  rmSync(join(folder, 'tls.key'));
  writeFileSync(join(folder, 'tls.key'), 'x'.repeat(1024 * 1024 + 1));
  await expect(store.read('serving')).rejects.toThrow('tls.key is larger than 1 MiB');
});

test('a write based on old state is a conflict that changes nothing', async () => {
  const folder = temporaryFolder();
  const store = folderStore(folder);
  await write(store, { 'tls.crt': '1' });
  const first = await store.read('serving');
  const to = (text: string, from = first) =>
    store.write('serving', { data: { 'tls.crt': text }, annotations: {} }, from);
  await to('a');
  for (const from of [first, undefined]) {
    await expect(to('late', from)).rejects.toThrow(new Conflict(`${folder} was changed by another run`));
  }
  expect((await store.read('serving'))?.data['tls.crt']).toBe('a');
});

test('annotations that are not text are skipped, and unreadable ones count as none', async () => {
  const folder = temporaryFolder();
  const store = folderStore(folder);
  await write(store, { 'tls.crt': 'c' }, { a: 'b' });
  for (const [text, annotations] of [
    ['{"a":"b","c":1}', { a: 'b' }],
    ['["a"]', {}],
    ['{"a":', {}],
  ] as const) {
    writeFileSync(join(folder, '.annotations.json'), text);
    expect(await store.read('serving')).toMatchObject({ data: { 'tls.crt': 'c' }, annotations });
  }
});
