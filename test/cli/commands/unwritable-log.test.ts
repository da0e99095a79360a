import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, aroundEach, describe, expect, test } from 'vitest';
import { localhost } from '../../base/x509/certificates.ts';
import { keepAliveAgent, review, send, until, validate } from '../../server/running.ts';
import { ending, endWith } from '../../support/ends.ts';
import { metricAt } from '../../support/metrics.ts';
import { freePorts } from '../../support/ports.ts';

aroundEach(ending);

const main = fileURLToPath(new URL('../../../bin/extensionconfig-webhook', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'unwritable-'));
writeFileSync(join(folder, 'tls.crt'), localhost.cert);
writeFileSync(join(folder, 'tls.key'), localhost.key);
afterAll(() => rmSync(folder, { recursive: true }));

/** A pipe that is full, and that nobody reads. */
function fullPipe(): number {
  const path = join(folder, `pipe-${performance.now()}`);
  execFileSync('mkfifo', [path]);
  const { O_RDWR, O_NONBLOCK } = constants;
  const both = openSync(path, O_RDWR | O_NONBLOCK);
  try {
    for (;;) {
      writeSync(both, Buffer.alloc(4096));
    }
  } catch {
    // It is full.
  }
  return openSync(path, 'w');
}

/** Where a log cannot be written. */
const logs = { 'a full disk': () => openSync('/dev/full', 'w'), 'a full pipe that nobody reads': fullPipe };

function spawnNode(log: keyof typeof logs, args: readonly string[], stderr: 'inherit' | 'pipe'): ChildProcess {
  const child = spawn(process.execPath, args, { stdio: ['ignore', logs[log](), stderr] });
  endWith(() => void child.kill('SIGKILL'));
  return child;
}

/** Starts a program whose log cannot be written, and waits until it is ready. */
async function start(log: keyof typeof logs, argsOf: (port: number, health: number) => readonly string[]) {
  // Its log would name its ports. Until it listens on those that are free now, another process may take one: then it ends.
  for (let tries = 1; ; tries++) {
    const [port, health] = await freePorts();
    const child = spawnNode(log, argsOf(port, health), 'inherit');
    const url = `http://127.0.0.1:${health}`;
    const isReady = () =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until(async () => child.exitCode !== null || (await isReady()), 'ready');
    if (child.exitCode === null) {
      return { child, port, url };
    }
    expect(tries, 'programs that ended before they were ready').toBeLessThan(3);
  }
}

/** The exit code after SIGTERM, or the signal that ended a process that did not end by itself. */
async function terminated(child: ChildProcess): Promise<unknown> {
  child.kill('SIGTERM');
  const timeout = setTimeout(() => child.kill('SIGKILL'), 60_000);
  const [code, signal] = await once(child, 'exit');
  clearTimeout(timeout);
  return code ?? signal;
}

test('with a log on a full disk, serve goes on, counts the lines that cannot be written, and ends', async () => {
  const { child, port, url } = await start('a full disk', (own, health) => [
    ...[main, 'serve', '--cert-dir', folder, '--host', '127.0.0.1', '--port', `${own}`],
    ...['--health-port', `${health}`, '--log-level', 'debug'],
  ]);
  const lost = () => metricAt(url, 'extensionconfig_webhook_log_lines_lost_total');
  const agent = keepAliveAgent();
  endWith(async () => agent.destroy());
  const call = () => send(port, validate, review('x'), { agent });
  do {
    const answers = await Promise.all(Array.from({ length: 40 }, call));
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([200]));
  } while ((await lost()) === 0);
  expect(await terminated(child)).toBe(0);
});

// Writing never ends there. The lines wait for the pipe's reader, up to 4 MiB (test/base/terminal/log-output.test.ts); serve
// and extensions end by the same steps.
describe('with a log on a full pipe that nobody reads', () => {
  const log = 'a full pipe that nobody reads';

  test('an extension of the SDK ends in time', async () => {
    const sdk = fileURLToPath(new URL('../../../src/extension/index.ts', import.meta.url));
    const options = { certificates: { folder }, host: '127.0.0.1', healthHost: '127.0.0.1' };
    const programAt = (port: number, healthPort: number) =>
      `import { createExtensionServer, handler } from ${JSON.stringify(sdk)};
const create = handler('BeforeClusterCreate', { name: 'create', handle: (_, { answer }) => answer.done() });
await createExtensionServer({ handlers: [create], ...${JSON.stringify({ ...options, port, healthPort })} }).run();`;
    const { child } = await start(log, (...ports) => ['--input-type=module', '--eval', programAt(...ports)]);
    expect(await terminated(child)).toBe(0);
  });

  test('a program that cannot start ends', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    endWith(() => taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const args = ['serve', '--self-signed', '--log-level', 'debug', '--host', '127.0.0.1', '--port', `${port}`];
    const child = spawnNode(log, [main, ...args, '--health-port', '0'], 'pipe');
    const [printed, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit')]);
    expect([code, printed]).toEqual([1, expect.stringContaining(`port ${port} is in use`)]);
  });
});
