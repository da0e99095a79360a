import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { needs } from './support/needs.ts';

const main = fileURLToPath(new URL('../bin/extensionconfig-webhook', import.meta.url));
const load = fileURLToPath(new URL('../bin/load.js', import.meta.url));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cache-'));
});
afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true });
});

function start(env: NodeJS.ProcessEnv, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env, timeout: 30_000 });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout;
}

/** Loads one file as the program is loaded: in JavaScript, which needs no compiler. */
function oneFile(env: NodeJS.ProcessEnv): void {
  const file = join(inject('runFolder'), 'one-file.mjs');
  writeFileSync(file, 'export const one = 1;');
  start(env, '--eval', `require('${load}')('${file}')`);
}

/** Reports on standard output at exit whether Node.js has loaded its TypeScript compiler. */
const tellCompiler = `process.on('exit', () => {
  const isLoaded = process.moduleLoadList.some((name) => name.includes('amaro'));
  process.stdout.write(isLoaded ? 'compiled TypeScript' : 'compiled nothing');
});`;

test("the first start fills the cache in the user's folder: the second compiles nothing, not even the first files", () => {
  const hook = `data:text/javascript,${encodeURIComponent(tellCompiler)}`;
  const version = () => start({ XDG_CACHE_HOME: folder }, '--import', hook, main, '--version');
  expect(version()).toMatch(/^extensionconfig-webhook .*\ncompiled TypeScript$/s);
  const forNode = readdirSync(join(folder, 'extensionconfig-webhook')).find((name) => name.startsWith('v'));
  const kept = () => readdirSync(join(folder, 'extensionconfig-webhook', forNode!)).length;
  const first = kept();
  expect(first).toBeGreaterThan(5);
  expect(version()).toMatch(/^extensionconfig-webhook .*\ncompiled nothing$/s);
  expect(kept()).toBe(first);
});

test('threads of the program use the cache, too', () => {
  const module = join(folder, 'thread.mjs');
  writeFileSync(
    module,
    `import { getCompileCacheDir } from 'node:module';
    import { isMainThread, Worker } from 'node:worker_threads';
    isMainThread ? new Worker(new URL(import.meta.url)) : process.stdout.write(getCompileCacheDir() ?? 'nowhere');`,
  );
  const keptIn = start({ XDG_CACHE_HOME: folder }, '--eval', `require('${load}')('${module}')`);
  expect(keptIn).toContain(join(folder, 'extensionconfig-webhook/v'));
});

test('a home folder can contain the cache', () => {
  oneFile({ HOME: folder });
  expect(readdirSync(join(folder, '.cache'))).toEqual(['extensionconfig-webhook']);
  expect(statSync(join(folder, '.cache')).mode & 0o777).toBe(0o700);
});

test('nothing is cached where another user could plant code', needs('root', process.getuid?.() === 0), () => {
  chownSync(folder, 65532, 65532);
  oneFile({ HOME: folder });
  oneFile({ XDG_CACHE_HOME: folder });
  expect(readdirSync(folder)).toEqual([]);

  // A folder that all users can write to, like /tmp.
  chownSync(folder, 0, 0);
  const planted = join(folder, 'extensionconfig-webhook');
  mkdirSync(planted);
  chownSync(planted, 65532, 65532);
  oneFile({ XDG_CACHE_HOME: folder });
  expect(readdirSync(planted)).toEqual([]);
});

test(
  'a place in which the system makes no folder does not stop a start',
  needs('root', process.getuid?.() === 0),
  () => {
    oneFile({ HOME: '/proc' });
    oneFile({ XDG_CACHE_HOME: '/proc' });
  },
);

test('the program works without a cache folder, and with the cache disabled', () => {
  oneFile({ XDG_CACHE_HOME: '/proc/nowhere' });
  oneFile({ XDG_CACHE_HOME: join(folder, 'missing') });
  expect(existsSync(join(folder, 'missing'))).toBe(false);
  oneFile({ XDG_CACHE_HOME: folder, NODE_DISABLE_COMPILE_CACHE: '1' });
  expect(readdirSync(folder)).toEqual([]);
  chmodSync(folder, 0o500);
  oneFile({ XDG_CACHE_HOME: folder });
});

test('files older than 30 days are deleted, once a day', () => {
  const cache = join(folder, 'extensionconfig-webhook');
  const days = (count: number) => Date.now() / 1000 - count * 24 * 60 * 60;
  const write = (name: string, age: number, below = 'v22.0.0-x64') => {
    mkdirSync(join(cache, below), { recursive: true });
    writeFileSync(join(cache, below, name), '');
    utimesSync(join(cache, below, name), days(age), days(age));
  };
  // Kept by `openapi merge`, by rules of its own: entries in use may be older than their last write.
  write('document', 31, 'openapi');
  write('old', 31);
  write('recent', 29);
  oneFile({ XDG_CACHE_HOME: folder });
  expect(readdirSync(join(cache, 'v22.0.0-x64'))).toEqual(['recent']);
  expect(statSync(join(cache, 'cleaned')).mode & 0o777).toBe(0o600);

  write('old', 31);
  oneFile({ XDG_CACHE_HOME: folder });
  expect(readdirSync(join(cache, 'v22.0.0-x64'))).toEqual(['old', 'recent']);

  utimesSync(join(cache, 'cleaned'), days(1.1), days(1.1));
  oneFile({ XDG_CACHE_HOME: folder });
  expect(readdirSync(join(cache, 'v22.0.0-x64'))).toEqual(['recent']);
  expect(readdirSync(join(cache, 'openapi'))).toEqual(['document']);
});
