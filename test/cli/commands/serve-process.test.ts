import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepAliveAgent, review, send, validate } from '../../server/running.ts';

const main = fileURLToPath(new URL('../../../bin/extensionconfig-webhook', import.meta.url));

/** `serve`, started by nohup. */
async function serving() {
  const args = ['serve', '--self-signed', '--host', '127.0.0.1'];
  const command = [process.execPath, main, ...args, '--port', '0', '--health-port', '0'];
  const child: ChildProcess = spawn('sh', ['-c', 'exec env _=/usr/bin/nohup "$@"', 'sh', ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
  const ports = await new Promise<{ webhookPort: number; healthPort: number }>((resolve) => {
    createInterface({ input: child.stdout! }).on('line', (text) => {
      const line = JSON.parse(text);
      if (line.msg === 'listening') {
        resolve(line);
      }
    });
  });
  return { ...ports, child, ended };
}

let server: Awaited<ReturnType<typeof serving>>;
beforeAll(async () => {
  server = await serving();
});
afterAll(async () => {
  server.child.kill('SIGKILL');
  await server.ended;
});

// SIGTERM under load: test/e2e/faults.test.ts. SIGHUP of a terminal: test/cli/commands/sandbox/process.test.ts; under load:
// test/cli/commands/serve.test.ts.
test('started with nohup it ignores SIGHUP; a second Ctrl-C ends it at once, whatever is open', async () => {
  const { child, webhookPort, ended } = server;
  child.kill('SIGHUP');
  await new Promise((resolve) => setTimeout(resolve, 200));
  const agent = keepAliveAgent();
  const { headers } = await send(webhookPort, validate, review('x'), { agent, rejectUnauthorized: false });
  expect(headers.connection).toBe('keep-alive');
  child.kill('SIGINT');
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(child.exitCode).toBeNull();
  child.kill('SIGINT');
  expect(await ended).toEqual([null, 'SIGINT']);
  agent.destroy();
});
