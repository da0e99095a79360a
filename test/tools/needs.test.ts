import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startVitest } from 'vitest/node';
import { hasTool, needs } from './needs.ts';
import { skippedLines } from './skipped-reporter.ts';

test('a program that is not there is not found, and its tests are skipped', () => {
  const missing = 'no-such-program' as 'kubectl';
  expect(needs('port 443', false)).toEqual({ skip: true, meta: { needs: 'port 443' } });
  expect(needs('port 443', true).skip).toBe(false);
  expect(needs('bash').skip).toBe(!hasTool('bash'));
  expect(hasTool(missing)).toBe(false);
});

test('a run says which tests were skipped for lack of what, also those of a group, and names the rest', async () => {
  const vitest = await startVitest(
    'test',
    [],
    {
      root: fileURLToPath(new URL('../fixtures/skipped', import.meta.url)),
      watch: false,
      config: false,
      reporters: [],
    },
    { test: { include: ['skipped.ts'] } },
  );
  try {
    expect(skippedLines(vitest.state.getTestModules())).toEqual([
      'skipped for lack of kubectl: 1 test',
      'skipped for lack of port 443: 2 tests',
      'skipped: skipped.ts > for no reason that it gives',
    ]);
  } finally {
    await vitest.close();
  }
});
