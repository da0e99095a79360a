import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../../sandbox/client.ts';
import { needs } from '../../../support/needs.ts';

test('closing the terminal ends it, and it leaves nothing behind', needs('script'), async () => {
  const folder = mkdtempSync(join(tmpdir(), 'closed-'));
  const env = { ...process.env, TMPDIR: folder };
  const command = `'${process.execPath}' bin/extensionconfig-webhook sandbox --no-extension`;
  const terminal = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  let output = '';
  terminal.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await eventually(
    async () => output,
    (printed) => printed.includes('kubectl get'),
  );
  expect(readdirSync(folder)).toHaveLength(1);
  // Closing its side of the terminal sends SIGHUP to what runs there.
  terminal.kill('SIGKILL');
  await eventually(
    async () => readdirSync(folder),
    (files) => files.length === 0,
  );
  rmSync(folder, { recursive: true });
});
