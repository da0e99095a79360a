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
import { afterEach, beforeEach, expect, test } from 'vitest';
import { needs } from './tools/needs.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cache-'));
});
afterEach(() => {
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true });
});

function help(env: NodeJS.ProcessEnv): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, '--help'], { encoding: 'utf8', env });
  expect(stderr).toBe('');
  expect(stdout).toContain('Usage:');
  expect(status).toBe(0);
}

test('what a start compiles is kept in the folder of the user for such things', () => {
  help({ XDG_CACHE_HOME: folder });
  const version = readdirSync(join(folder, 'extensionconfig-webhook')).find((name) => name.startsWith('v'));
  const kept = () => readdirSync(join(folder, 'extensionconfig-webhook', version!)).length;
  const first = kept();
  expect(first).toBeGreaterThan(5);
  help({ XDG_CACHE_HOME: folder });
  expect(kept()).toBe(first);
});

test('a home is a place for it', () => {
  help({ HOME: folder });
  expect(readdirSync(join(folder, '.cache'))).toEqual(['extensionconfig-webhook']);
});

test('nothing is kept where another user could put code', needs('root', process.getuid?.() === 0), () => {
  chownSync(folder, 65532, 65532);
  help({ HOME: folder });
  help({ XDG_CACHE_HOME: folder });
  expect(readdirSync(folder)).toEqual([]);
});

test('without a place for it, or told not to, it works all the same', () => {
  help({ XDG_CACHE_HOME: '/proc/nowhere' });
  help({ XDG_CACHE_HOME: join(folder, 'missing') });
  expect(existsSync(join(folder, 'missing'))).toBe(false);
  help({ XDG_CACHE_HOME: folder, NODE_DISABLE_COMPILE_CACHE: '1' });
  expect(readdirSync(folder)).toEqual([]);
  chmodSync(folder, 0o500);
  help({ XDG_CACHE_HOME: folder });
});

test('what is older than 30 days is deleted, once a day', () => {
  const cache = join(folder, 'extensionconfig-webhook');
  const days = (count: number) => Date.now() / 1000 - count * 24 * 60 * 60;
  const write = (name: string, age: number) => {
    mkdirSync(join(cache, 'v22.0.0-x64'), { recursive: true });
    writeFileSync(join(cache, 'v22.0.0-x64', name), '');
    utimesSync(join(cache, 'v22.0.0-x64', name), days(age), days(age));
  };
  write('old', 31);
  write('recent', 29);
  help({ XDG_CACHE_HOME: folder });
  expect(readdirSync(join(cache, 'v22.0.0-x64'))).toEqual(['recent']);
  expect(statSync(join(cache, 'cleaned')).mode & 0o777).toBe(0o600);

  write('old', 31);
  help({ XDG_CACHE_HOME: folder });
  expect(readdirSync(join(cache, 'v22.0.0-x64'))).toEqual(['old', 'recent']);

  utimesSync(join(cache, 'cleaned'), days(1.1), days(1.1));
  help({ XDG_CACHE_HOME: folder });
  expect(readdirSync(join(cache, 'v22.0.0-x64'))).toEqual(['recent']);
});
