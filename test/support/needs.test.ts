import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startVitest } from 'vitest/node';
import { hasTool, needs } from './needs.ts';
import { skippedLines } from './skipped-reporter.ts';

test('a program that does not exist is not found, and its tests are skipped', () => {
  const missing = 'no-such-program' as 'kubectl';
  expect(needs('port 443', false)).toEqual({ skip: true, meta: { needs: 'port 443' } });
  expect(needs('port 443', true)).toEqual({});
  expect(needs('bash').skip ?? false).toBe(!hasTool('bash'));
  expect(hasTool(missing)).toBe(false);
});

test('a run reports what was skipped for lack of what, also in groups', async () => {
  const vitest = await startVitest(
    'test',
    [],
    {
      root: fileURLToPath(new URL('./fixtures/skipped', import.meta.url)),
      watch: false,
      config: false,
      reporters: [],
    },
    { test: { include: ['skipped.ts'] } },
  );
  try {
    const [testModule] = vitest.state.getTestModules();
    expect(skippedLines([testModule!])).toEqual([
      'skipped for lack of kubectl: 1 test',
      'skipped for lack of port 443: 2 tests',
      'skipped: skipped.ts > for no reason that it gives',
    ]);
    // Tests excluded by their name were not requested.
    testModule!.project.config.testNamePattern = /lacks a program/;
    expect(skippedLines([testModule!])).toEqual(['skipped for lack of kubectl: 1 test']);
  } finally {
    await vitest.close();
  }
});
