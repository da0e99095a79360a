import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FileError, readRegularFileSync } from '../../../src/base/index.ts';
import { needs } from '../../support/needs.ts';

const folder = mkdtempSync(join(tmpdir(), 'files-'));
const at = (name: string) => join(folder, name);
const maxBytes = 1024 * 1024;
const server = createServer();

beforeAll(async () => {
  execFileSync('mkfifo', [at('fifo')]);
  symlinkSync('fifo', at('link-to-fifo'));
  symlinkSync('link-to-itself', at('link-to-itself'));
  mkdirSync(at('folder'));
  writeFileSync(at('empty'), '');
  writeFileSync(at('small'), 'small');
  symlinkSync('small', at('link-to-small'));
  writeFileSync(at('full'), Buffer.alloc(maxBytes, 1));
  writeFileSync(at('over'), Buffer.alloc(maxBytes + 1, 1));
  writeFileSync(at('huge'), '');
  truncateSync(at('huge'), 1024 ** 3);
  await new Promise<void>((resolve) => server.listen(at('socket'), resolve));
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

/** The bytes of a file, or the message of the error. */
function read(path: string): Buffer | string {
  try {
    return readRegularFileSync(path, maxBytes);
  } catch (error) {
    expect(error).toBeInstanceOf(FileError);
    return `${(error as FileError).code} ${(error as FileError).problem}`;
  }
}

test.each([
  ['fifo', 'ENOTREG is a FIFO, not a regular file'],
  ['link-to-fifo', 'ENOTREG is a FIFO, not a regular file'],
  ['folder', 'ENOTREG is a folder, not a regular file'],
  ['socket', 'ENOTREG is a socket, not a regular file'],
  ['/dev/zero', 'ENOTREG is a device, not a regular file'],
  ['over', 'EFBIG is larger than 1 MiB'],
  ['huge', 'EFBIG is larger than 1 MiB'],
  ['missing', 'ENOENT does not exist'],
  ['small/below', 'ENOTDIR cannot be read: a part of the path is not a folder'],
  ['link-to-itself', 'ELOOP cannot be read: too many symbolic links'],
])('%s is rejected: %s', (name, problem) => {
  expect(read(name.startsWith('/') ? name : at(name))).toBe(problem);
});

test('regular files are read completely, up to the limit', () => {
  expect(read(at('small'))).toEqual(Buffer.from('small'));
  expect(read(at('link-to-small'))).toEqual(Buffer.from('small'));
  expect(read(at('empty'))).toEqual(Buffer.alloc(0));
  expect(read(at('full')).length).toBe(maxBytes);
});

const onLinux = needs('Linux', process.platform === 'linux');
test('files of unknown size are read, and limited', onLinux, () => {
  expect(String(read('/proc/self/status'))).toContain('VmRSS');
  expect(() => readRegularFileSync('/proc/self/status', 16)).toThrow('/proc/self/status is larger than 16 bytes');
});

test('a file that is longer than reported is read as a whole', onLinux, () => {
  // Some hundred lines, all of them different.
  const text = readRegularFileSync('/proc/self/maps', maxBytes);
  expect(text.length).toBeGreaterThan(2 * 4096);
  const lines = text.toString('latin1').split('\n');
  expect(lines.pop()).toBe('');
  expect(lines.filter((line) => !/^[0-9a-f]+-[0-9a-f]+ [-rwxsp]{4} /.test(line))).toEqual([]);
  expect(() => readRegularFileSync('/proc/self/maps', 5_000)).toThrow('/proc/self/maps is larger than 5000 bytes');
});

test('files are closed, whether they are read or refused', onLinux, () => {
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  for (let count = 0; count < 20; count++) {
    read(at('small'));
    expect(() => readRegularFileSync('/proc/self/status', 16)).toThrow(FileError);
  }
  expect(open() - before).toBeLessThan(10);
});

test('the message is one line, whatever the path has', () => {
  const path = at('a\nb\u001b[31m');
  expect(() => readRegularFileSync(path, maxBytes)).toThrow(`${at('a\\u000ab\\u001b[31m')} does not exist`);
});
