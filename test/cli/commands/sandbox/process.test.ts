import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../sandbox/client.ts';
import { needs } from '../../../support/needs.ts';

test('closing the terminal ends it, and it leaves nothing behind', needs('script'), async () => {
  const folder = mkdtempSync(join(tmpdir(), 'closed-'));
  const env = { ...process.env, TMPDIR: folder };
  const command = `'${process.execPath}' bin/extensionconfig-webhook sandbox --no-extension --no-controller`;
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

// With a real signal, because files left behind would hold a token. SIGTERM when it is ready has the same end as the
// closed terminal above: exit code 0 (test/cli/commands/sandbox/sandbox.test.ts).
test('stopped by SIGINT before it is ready, it leaves nothing behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stopped-'));
  const env = { ...process.env, TMPDIR: folder };
  const args = ['sandbox', '--no-extension', '--no-controller'];
  const child = spawn(process.execPath, ['bin/extensionconfig-webhook', ...args], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill());
  await eventually(
    async () => readdirSync(folder),
    (files) => files.length > 0,
  );
  child.kill('SIGINT');
  const [[code], output] = await Promise.all([once(child, 'close'), text(child.stderr)]);
  expect([code, output]).toEqual([130, expect.stringMatching(/^extensionconfig-webhook: interrupted$/m)]);
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});
