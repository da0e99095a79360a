import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { folderStore } from '../../src/certs/index.ts';

/** A folder that goes with its test. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'certs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('the folder store swaps all files at once, keeps keys private, and refuses a stale write', async () => {
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

test('the folder store takes nothing away that it did not make, and follows no link out of its folder', async () => {
  const folder = temporaryFolder();
  const elsewhere = temporaryFolder();
  const store = folderStore(folder);
  const contents = { data: { 'tls.crt': 'c', 'tls.key': 'k' }, annotations: {} };
  writeFileSync(join(folder, 'tls.key'), 'precious');
  await expect(store.write('serving', contents, undefined)).rejects.toThrow(
    `${join(folder, 'tls.key')} was not made by this command: move it away, or choose another folder`,
  );
  expect(readFileSync(join(folder, 'tls.key'), 'utf8')).toBe('precious');
  rmSync(join(folder, 'tls.key'));
  execFileSync('mkfifo', [join(folder, 'tls.key')]);
  await expect(store.write('serving', contents, undefined)).rejects.toThrow('was not made by this command');
  rmSync(join(folder, 'tls.key'));
  writeFileSync(join(folder, 'other.key'), 'precious');
  await store.write('serving', contents, undefined);
  expect(readFileSync(join(folder, 'other.key'), 'utf8')).toBe('precious');

  writeFileSync(join(elsewhere, 'ca.key'), 'secret');
  symlinkSync(elsewhere, join(folder, '..v9'));
  await expect(store.read('serving')).rejects.toThrow('..v9 is not a folder');
  rmSync(join(folder, '..v9'));
  symlinkSync(elsewhere, join(folder, 'authority'));
  await expect(store.write('ca', contents, undefined)).rejects.toThrow('authority is not a folder');
  expect(readdirSync(elsewhere)).toEqual(['ca.key']);
});

test('the folder store refuses a FIFO in a version, and shows a version that a killed run did not show', async () => {
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
