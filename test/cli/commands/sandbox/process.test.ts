import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { shellPath } from '../../../../src/cli/framework/shell-path.ts';
import { eventually } from '../../../sandbox/client.ts';
import { needs } from '../../../support/needs.ts';

test('closing the terminal ends it, and it leaves nothing behind', needs('script'), async () => {
  const folder = mkdtempSync(join(tmpdir(), 'closed-'));
  const env = { ...process.env, TMPDIR: folder };
  const command = `${shellPath(process.execPath)} bin/extensionconfig-webhook sandbox --no-extension --no-controller`;
  const terminal = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  let output = '';
  terminal.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await eventually(
    async () => output,
    (text) => text.includes('kubectl get'),
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

// With real signals, because files left behind would hold a token.
test.each([
  ['before it is ready', 'SIGINT', 130],
  ['when it is ready', 'SIGTERM', 0],
] as const)('stopped %s by %s, it leaves nothing behind and has exit code %d', async (when, signal, code) => {
  const folder = mkdtempSync(join(tmpdir(), 'stopped-'));
  const env = { ...process.env, TMPDIR: folder };
  const args = ['sandbox', '--no-extension', '--no-controller'];
  const child = spawn(process.execPath, ['bin/extensionconfig-webhook', ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill());
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  await eventually(
    async () => ({ files: readdirSync(folder), text: output }),
    ({ files, text }) => files.length > 0 && (when === 'before it is ready' || text.includes('kubectl get')),
  );
  child.kill(signal);
  // Then its output is read to the end.
  expect((await once(child, 'close'))[0]).toBe(code);
  expect(readdirSync(folder)).toEqual([]);
  expect(output).toMatch(code === 0 ? /kubectl get/ : /^extensionconfig-webhook: interrupted$/m);
  rmSync(folder, { recursive: true });
});
