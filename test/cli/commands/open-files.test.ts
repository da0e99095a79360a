import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { aroundEach, expect, test } from 'vitest';
import { review, send, validate } from '../../server/running.ts';
import { ending, endWith } from '../../support/ends.ts';

aroundEach(ending);

const main = fileURLToPath(new URL('../../../bin/extensionconfig-webhook', import.meta.url));

/** `serve` with so many file descriptors, started by nohup, and the lines of its log. */
async function serving(openFiles: number) {
  const args = ['serve', '--self-signed', '--host', '127.0.0.1', '--health-host', '127.0.0.1'];
  const child: ChildProcess = spawn(
    'sh',
    [
      '-c',
      `ulimit -n ${openFiles}; exec "$@"`,
      'sh',
      process.execPath,
      main,
      ...args,
      '--port',
      '0',
      '--health-port',
      '0',
    ],
    // A shell would set `_` to its last command.
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, _: '/usr/bin/nohup' } },
  );
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
  endWith(async () => {
    child.kill('SIGKILL');
    await ended;
  });
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
  return { ...ports, lines };
}

/** A TCP connection that sends nothing. */
async function openTcp(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  endWith(async () => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

test('with 80 file descriptors and 150 idle connections, the kubelet and the API server are answered', async () => {
  const { webhookPort, healthPort, lines } = await serving(80);
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
