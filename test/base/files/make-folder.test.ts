import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder } from '../../../src/base/index.ts';
import { needs } from '../../support/needs.ts';

test('creates a folder and its parents, unless they exist', () => {
  const base = mkdtempSync(join(tmpdir(), 'make-'));
  onTestFinished(() => rmSync(base, { recursive: true }));
  makeFolder(join(base, 'a/b/c'), 0o700);
  makeFolder(join(base, 'a/b/c'));
  expect(['a', 'a/b', 'a/b/c'].map((name) => statSync(join(base, name)).mode & 0o777)).toEqual([0o700, 0o700, 0o700]);

  writeFileSync(join(base, 'file'), '');
  symlinkSync(join(base, 'nowhere'), join(base, 'link'));
  expect(() => makeFolder(join(base, 'file'))).toThrow(expect.objectContaining({ code: 'EEXIST' }));
  expect(() => makeFolder(join(base, 'file/a'))).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
  expect(() => makeFolder(join(base, 'link'))).toThrow(expect.objectContaining({ code: 'ENOENT' }));
});

test('ends where the system makes no folders', needs('Linux', existsSync('/proc/self')), () => {
  // In a process of its own: one that tries forever can only be killed.
  const module = new URL('../../../src/base/files/folders.ts', import.meta.url);
  const script = `import { makeFolder } from '${module}'; makeFolder('/proc/nosuch/folder')`;
  const options = { encoding: 'utf8', timeout: 30_000, killSignal: 'SIGKILL' } as const;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], options);
  expect([status, stderr]).toEqual([
    1,
    expect.stringContaining("ENOENT: no such file or directory, mkdir '/proc/nosuch"),
  ]);
});
