import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cacheDirectory, defaultLimits, openCache } from '../../../src/cli/commands/openapi/cache.ts';

let folder: string;
const warnings: string[] = [];

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'openapi-cache-')), 'a', 'b');
  warnings.length = 0;
});

afterEach(() => rmSync(join(folder, '..', '..'), { recursive: true, force: true }));

const open = async (limits = defaultLimits) => openCache(folder, (message) => warnings.push(message), limits)!;

/** Makes files look as if they had last been used some days ago. */
function age(days: number, names = readdirSync(folder)): void {
  const time = new Date(Date.now() - days * 24 * 60 * 60 * 1000);
  for (const name of names) {
    utimesSync(join(folder, name), time, time);
  }
}

test('an entry can only be read with the same key, and only by its owner', async () => {
  const cache = await open();
  await cache.write('a', Buffer.from('content'));
  expect((await cache.read('a'))?.toString()).toBe('content');
  expect(await cache.read('b')).toBeUndefined();
  expect((await (await open()).read('a'))?.toString()).toBe('content');
  const [file = '', ...others] = readdirSync(folder);
  expect(others).toEqual([]);
  expect(file).toMatch(/^[0-9a-f]{64}$/);
  expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(warnings).toEqual([]);
});

test('a folder in place of an entry counts as missing', async () => {
  const cache = await open();
  await cache.write('a', Buffer.from('content'));
  const file = join(folder, readdirSync(folder)[0] as string);
  rmSync(file);
  mkdirSync(file);
  expect(await cache.read('a')).toBeUndefined();
});

describe('cleaning up', () => {
  test('removes what has not been used for the configured time', async () => {
    const cache = await open();
    await cache.write('a', Buffer.from('a'));
    await cache.write('b', Buffer.from('b'));
    age(31);
    expect(await cache.read('a')).toBeDefined();
    await cache.cleanUp();
    expect(readdirSync(folder).length).toBe(1);
    expect(await cache.read('a')).toBeDefined();
  });

  test('keeps the configured size by removing the least recently used entries', async () => {
    const cache = await open({ ...defaultLimits, maxBytes: 250 });
    for (const key of ['d', 'c', 'b', 'a']) {
      age(1, readdirSync(folder));
      await cache.write(key, Buffer.alloc(100, key));
    }
    await cache.read('d');
    await cache.cleanUp();
    const kept = await Promise.all(['a', 'b', 'c', 'd'].map(async (key) => (await cache.read(key)) !== undefined));
    expect(kept).toEqual([true, false, false, true]);
  });

  test('removes leftovers of killed runs, and nothing that is not part of the cache', async () => {
    const cache = await open();
    const names = [`${'0'.repeat(64)}.${randomUUID()}`, 'notes.txt', '0'.repeat(63)];
    for (const name of names) {
      writeFileSync(join(folder, name), '');
    }
    age(60);
    const running = `${'0'.repeat(64)}.${randomUUID()}`;
    writeFileSync(join(folder, running), '');
    await cache.cleanUp();
    expect(readdirSync(folder).sort()).toEqual([...names.slice(1), running].sort());
  });
});

test('an entry over the limit is not stored', async () => {
  const cache = await open({ ...defaultLimits, maxEntryBytes: 5 });
  await cache.write('a', Buffer.from('123456'));
  expect(readdirSync(folder)).toEqual([]);
});

test('a folder that cannot be created is reported, without failing', async () => {
  mkdirSync(join(folder, '..'), { recursive: true });
  writeFileSync(folder, '');
  const cache = await open();
  expect(cache).toBeUndefined();
  expect(warnings).toEqual([expect.stringMatching(/^the cache \S+ is not used: EEXIST/)]);
});

test.each([
  [{ XDG_CACHE_HOME: '/x' }, '/x/extensionconfig-webhook/openapi'],
  [{ XDG_CACHE_HOME: 'x', HOME: '/h' }, '/h/.cache/extensionconfig-webhook/openapi'],
  [{ XDG_CACHE_HOME: '', HOME: '/h' }, '/h/.cache/extensionconfig-webhook/openapi'],
])('the folder for %j', (env, directory) => {
  expect(cacheDirectory(env)).toBe(directory);
});

test('a user whom the system knows only by number has no folder, and nothing is cached', async () => {
  const directory = cacheDirectory({}, () => {
    throw new Error('uv_os_homedir returned ENOENT');
  });
  const warnings: string[] = [];
  const cache = openCache(directory, (message) => warnings.push(message));
  expect(warnings).toEqual(['no cache is used: this user has no home folder; set HOME or XDG_CACHE_HOME']);
  expect(cache).toBeUndefined();
});

test.runIf(process.platform === 'linux')('a folder that the system cannot make is not used', async () => {
  const warnings: string[] = [];
  const cache = openCache('/proc/none/of/these', (message) => warnings.push(message));
  expect(warnings).toEqual([expect.stringMatching(/^the cache \/proc\/none\/of\/these is not used: ENOENT/)]);
  expect(cache).toBeUndefined();
});
