import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { openFileLimit, withinOpenFiles } from '../../../src/server/connections/open-files.ts';
import { needs } from '../../support/needs.ts';

test('the limit is what the shell prints', needs('Linux', process.platform === 'linux'), () => {
  const text = execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim();
  expect(openFileLimit()).toBe(text === 'unlimited' ? undefined : Number(text));
});

test.each([
  ['main', 1_064, 768],
  ['health', 1_064, 128],
  ['main', 1_065, 768],
  ['main', 100_000, 1_000],
  ['main', undefined, 1_000],
  ['main', 44, 3],
  ['main', 40, 2],
  ['health', 10, 2],
] as const)('the %s port of a process with at most %j open files has at most %i of 1,000 connections', (port, openFiles, most) => {
  expect(withinOpenFiles({ maxConnections: 1_000 }, openFiles, port)).toEqual({ maxConnections: most });
});
