import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const main = fileURLToPath(new URL('../../../bin/extensionconfig-webhook', import.meta.url));

test.skipIf(process.platform !== 'linux')('output that cannot be written is one line, not a stack trace', () => {
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [main, 'rules'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  expect([status, stderr]).toEqual([
    1,
    'extensionconfig-webhook: the output cannot be written: ENOSPC: no space left on device, write\n',
  ]);
});
