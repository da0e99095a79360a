import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { keepAliveAgent, review, send, validate } from '../../server/running.ts';

const main = fileURLToPath(new URL('../../../bin/extensionconfig-webhook', import.meta.url));

/** `serve` with 80 file descriptors, started by nohup, and the lines of its log. One process, since a start takes long. */
async function serving() {
  const args = ['serve', '--self-signed', '--host', '127.0.0.1'];
  const command = [process.execPath, main, ...args, '--port', '0', '--health-port', '0'];
  const child: ChildProcess = spawn('sh', ['-c', 'ulimit -n 80; exec env _=/usr/bin/nohup "$@"', 'sh', ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
  const lines: Record<string, unknown>[] = [];
  const ports = await new Promise<{ webhookPort: number; healthPort: number }>((resolve) => {
    createInterface({ input: child.stdout! }).on('line', (text) => {
      const line = JSON.parse(text);
      lines.push(line);
      if (line.msg === 'listening') {
        resolve(line);
      }
    });
  });
  return { ...ports, lines, child, ended };
}

let server: Awaited<ReturnType<typeof serving>>;
beforeAll(async () => {
  server = await serving();
});
afterAll(async () => {
  server.child.kill('SIGKILL');
  await server.ended;
});

/** A TCP connection that sends nothing, until the test ends. */
async function openTcp(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

test('with 80 file descriptors and 150 idle connections, the kubelet and the API server are answered', async () => {
  const { webhookPort, healthPort, lines } = server;
  expect(lines).toContainEqual(expect.objectContaining({ level: 'warn', openFiles: 80, maxConnections: 30 }));
  for (let count = 0; count < 150; count++) {
    await openTcp(webhookPort);
    await openTcp(healthPort);
  }
  for (let probe = 0; probe < 3; probe++) {
    // Like the kubelet: a connection for each probe.
    const code = await new Promise((resolve, reject) => {
      get(`http://127.0.0.1:${healthPort}/healthz`, { agent: false, timeout: 4_000 }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('timeout', () => reject(new Error('no response')))
        .on('error', reject);
    });
    expect(code).toBe(200);
  }
  // After the time that a newcomer has for its first request, its place is free.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect((await send(webhookPort, validate, review('x'), { rejectUnauthorized: false })).code).toBeDefined();
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
