// Rehearses the clusters of many Clusters in one run, against the sample extension in a process of its own: created,
// upgraded by two minor versions, deleted. `npm run bench:rehearsal [-- --clusters 1000]`.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { type Entry, readInput, rehearse } from '../../src/checks/rehearsal/index.ts';
import { createSampleExtension } from '../../src/extension/sample/index.ts';
import { objectsOf } from '../../test/checks/rehearsal/rehearsing.ts';
import { clusterYaml } from '../../test/checks/rehearsal/simulation/simulating.ts';
import { certificateFolder } from '../../test/extension/sdk/running.ts';
import { caBundle, extensionConfig } from '../../test/runtimehooks/client/extension-server.ts';
import { endAll } from '../../test/support/ends.ts';

/** Address and CA of the extension: each process of the tests has an extension of its own. */
interface Served {
  port: number;
  bundle: string;
}

async function serve(): Promise<void> {
  const running = await createSampleExtension({
    certificates: { folder: certificateFolder() },
    host: '127.0.0.1',
    port: 0,
    healthHost: '127.0.0.1',
    healthPort: 0,
    log: pino({ level: 'silent' }),
  }).start();
  process.send?.({ port: running.port, bundle: caBundle });
  await once(process, 'disconnect');
  await running.stop({ graceMs: 0, timeoutMs: 100 });
  await endAll();
}

async function measure({ port, bundle }: Served, count: number): Promise<void> {
  const [base] = objectsOf(clusterYaml('v1.31.0'));
  const clusters = Array.from({ length: count }, (_, index) => ({
    where: () => String(index),
    object: { ...structuredClone(base!.object), metadata: { name: `c-${index}`, namespace: 'team' } },
  }));
  const { subjects } = readInput(clusters, 'v1.33.0');
  let calls = 0;
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  const { complete } = await rehearse({
    configs: [extensionConfig('sample', { url: `https://localhost:${port}`, caBundle: bundle })],
    subjects,
    scenario: { upgrades: ['v1.33.0'], isDeleted: true, updatesInPlace: false },
    limits: { maxCalls: 1000, maxFailures: 10 },
    namespaceLabels: async () => ({}),
    onEntry: (entry: Entry) => {
      calls += entry.type === 'call' ? 1 : 0;
    },
    signal: new AbortController().signal,
  });
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  process.stdout.write(
    `${String(count).padStart(5)} Clusters: ${complete} complete, ${calls} calls, ${seconds.toFixed(1)} s (${((user + system) / 1e6).toFixed(1)} s of CPU), ${(process.memoryUsage().rss / 2 ** 20).toFixed(0)} MiB\n`,
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { clusters: { type: 'string', default: '1000' } } });
  const server: ChildProcess = fork(fileURLToPath(import.meta.url), ['serve']);
  const [served] = (await once(server, 'message')) as [Served];
  const most = Number(values.clusters);
  for (const count of [10, most / 4, most / 2, most]) {
    await measure(served, Math.max(1, Math.floor(count)));
  }
  server.disconnect();
}

await (process.argv[2] === 'serve' ? serve() : main());
