import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { tellPackages } from '../../support/loads.ts';

test('the help loads nothing that only a command needs', () => {
  const main = fileURLToPath(new URL('../../../bin/extensionconfig-webhook', import.meta.url));
  const { stderr, status } = spawnSync(process.execPath, ['--import', tellPackages, main, '--help'], {
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  const loaded = JSON.parse(stderr) as string[];
  expect(loaded).toContain('commander');
  for (const name of ['yaml', 'ajv', 'express', 'node-forge', 'prom-client', 'pino', '@kubernetes']) {
    expect(loaded).not.toContain(name);
  }
});
