import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, expect, test } from 'vitest';
import { localhost } from '../../base/x509/certificates.ts';
import { keepAliveAgent, review, send, validate } from '../../server/running.ts';

const folder = mkdtempSync(join(tmpdir(), 'signals-'));
writeFileSync(join(folder, 'tls.crt'), localhost.cert);
writeFileSync(join(folder, 'tls.key'), localhost.key);
afterAll(() => rmSync(folder, { recursive: true }));

const main = fileURLToPath(new URL('../../../bin/extensionconfig-webhook', import.meta.url));
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
  }
});

/** `serve` in a process of its own, with these variables. */
async function serving(env: Record<string, string>) {
  const args = ['serve', '--cert-dir', folder, '--host', '127.0.0.1', '--health-host', '127.0.0.1'];
  const child = spawn(process.execPath, [main, ...args, '--port', '0', '--health-port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  children.push(child);
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
  const port = await new Promise<number>((resolve) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const { msg, webhookPort } = JSON.parse(line) as { msg: string; webhookPort: number };
      if (msg === 'listening') {
        resolve(webhookPort);
      }
    });
  });
  return { child, port, ended };
}

// SIGTERM under load: test/e2e/faults.test.ts. SIGHUP of a terminal: test/cli/commands/sandbox/process.test.ts; under load:
// test/cli/commands/serve.test.ts.
test('started with nohup it ignores SIGHUP; a second Ctrl-C ends it at once, whatever is open', async () => {
  const { child, port, ended } = await serving({ _: '/usr/bin/nohup' });
  child.kill('SIGHUP');
  await new Promise((resolve) => setTimeout(resolve, 200));
  const agent = keepAliveAgent();
  const { headers } = await send(port, validate, review('x'), { agent, rejectUnauthorized: false });
  expect(headers.connection).toBe('keep-alive');
  child.kill('SIGINT');
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(child.exitCode).toBeNull();
  child.kill('SIGINT');
  expect(await ended).toEqual([null, 'SIGINT']);
  agent.destroy();
});
