import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { selfSignedPair } from '../../src/server/index.ts';
import { startProgram } from '../cli/commands/io.ts';
import { createCertificateFolder, type ServeProcess, serveFlags, startServeProcess } from './serve-process.ts';
import { type Load, largeCall, send, startLoad } from './traffic.ts';

const certificates = createCertificateFolder();
let server: ServeProcess;
const loads: Load[] = [];
const others: { stop(): Promise<unknown> }[] = [];

/** Another replica, in this process: its port. */
async function startReplica(): Promise<{ webhookPort: number }> {
  const program = startProgram(['serve', ...serveFlags(certificates)]);
  others.push({
    stop() {
      program.stop('SIGTERM');
      return program.ended;
    },
  });
  const listening = await vi.waitUntil(() => /^.*"msg":"listening".*$/m.exec(program.stdout())?.[0], {
    timeout: 30_000,
  });
  return JSON.parse(listening) as { webhookPort: number };
}

// One process for both tests: each start takes half a second of CPU time.
beforeAll(async () => {
  server = await startServeProcess(certificates, ['--shutdown-delay', '1']);
});
afterAll(async () => {
  await Promise.all([server, ...others].map((one) => one.stop()));
  certificates.remove();
});

function begin(...options: Parameters<typeof startLoad>): Load {
  const load = startLoad(...options);
  loads.push(load);
  return load;
}

afterEach(async () => {
  await Promise.all(loads.splice(0).map((load) => load.stop()));
});

async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + 30_000;
  // With growing intervals: a long wait becomes only a little longer.
  for (let pauseMs = 5; performance.now() < end; pauseMs = Math.min(pauseMs * 1.5, 50)) {
    if (await condition()) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  throw new Error(`still not: ${what}`);
}

const reloads = 'extensionconfig_webhook_certificate_reloads_total{result="success"}';
const connections = 'extensionconfig_webhook_connections';

test('with ordinary and hostile clients during a certificate change, all responses are correct, and nothing leaks', async () => {
  // The thread for large bodies, which opens files of its own, starts with the first of them.
  await send(server.webhookPort, largeCall, false);
  const filesAtRest = server.openFiles();
  const load = begin(() => server.webhookPort, { callers: 4, hostile: 2, pauseMs: 10 });
  for (let swaps = 1; swaps <= 2; swaps++) {
    certificates.swap(selfSignedPair(new Date()));
    await until(async () => (await server.metric(reloads)) > swaps, `swap ${swaps} is loaded`);
    const { answered, hostile } = load.tally;
    await until(() => load.tally.answered > answered + 50 && load.tally.hostile > hostile + 15, 'the load goes on');
  }
  expect((await load.stop()).problems).toEqual([]);
  await until(async () => (await server.metric(connections)) === 0, 'every connection is closed');
  if (filesAtRest !== undefined) {
    // The connection of the scrape above may still be open.
    await until(() => server.openFiles()! <= filesAtRest + 2, 'files are closed');
  }
});

test('no request fails while one of two replicas is replaced under load, as in a rolling update', async () => {
  const replicas = [server, await startReplica()];
  // As a Service does: new connections go to replicas that are ready, and it learns of a change a little late.
  let endpoints: { webhookPort: number }[] = [...replicas];
  let turn = 0;
  const load = begin(() => endpoints[turn++ % endpoints.length]!.webhookPort, { callers: 6, pauseMs: 60 });
  await until(() => load.tally.answered > 50, 'load');

  const stopped = server.stop();
  await until(async () => (await fetch(`${server.health}/readyz`)).status === 503, 'the old one is not ready');
  const before = load.tally.answered;
  await until(() => load.tally.answered > before + 20, 'requests are answered while the endpoints are behind');
  endpoints = endpoints.filter((replica) => replica !== server);
  expect(await stopped).toBe(0);

  endpoints = [...endpoints, await startReplica()];
  const after = load.tally.answered;
  await until(() => load.tally.answered > after + 50, 'requests go on');
  expect((await load.stop()).problems).toEqual([]);
});
