// Measures the webhooks side by side with a bare node:https handler: `npm run bench [-- --rounds 7 --seconds 2 --connections 16]`.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { selfSignedPair, webhookPaths } from '../../src/server/index.ts';
import { load, openConnections, type Round, requestBytes } from './load.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '16' },
    'cold-starts': { type: 'string', default: '5' },
  },
});
const rounds = Number(values.rounds);
const milliseconds = Number(values.seconds) * 1000;
const connectionCount = Number(values.connections);
const coldStarts = Number(values['cold-starts']);

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const bodyOf = (name: string) =>
  JSON.stringify(JSON.parse(readFileSync(path(`../fixtures/webhook-calls/${name}`), 'utf8')).body);

interface Child {
  process: ChildProcess;
  webhookPort: number;
  healthPort: number;
}

/** Starts a server in a process of its own; resolves when it says that it listens. */
function startChild(args: readonly string[]): Promise<Child> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const entry = JSON.parse(line) as { msg?: string; webhookPort: number; healthPort: number };
      if (entry.msg === 'listening') {
        resolve({ process: child, webhookPort: entry.webhookPort, healthPort: entry.healthPort });
      }
    });
  });
}

const certificates = mkdtempSync(join(tmpdir(), 'bench-'));
const pair = selfSignedPair(new Date());
writeFileSync(join(certificates, 'tls.crt'), pair.cert);
writeFileSync(join(certificates, 'tls.key'), pair.key, { mode: 0o600 });
process.once('exit', () => rmSync(certificates, { recursive: true }));

const serveArgs = [
  path('../../src/main.ts'),
  ...['serve', '--cert-dir', certificates, '--feature-gates', 'RuntimeSDK=true'],
  ...['--host', '127.0.0.1', '--port', '0', '--health-host', '127.0.0.1', '--health-port', '0'],
];

async function stopChild({ process: child }: Child): Promise<void> {
  child.removeAllListeners('exit');
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

/** Milliseconds from the start of the process to the first 200 of /readyz. */
async function coldStart(): Promise<number> {
  const startedAt = performance.now();
  const child = await startChild(serveArgs);
  while ((await fetch(`http://127.0.0.1:${child.healthPort}/readyz`)).status !== 200) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const took = performance.now() - startedAt;
  await stopChild(child);
  return took;
}

/** Resident memory of a process in MiB (Linux only, else NaN). */
function residentMiB({ process: child }: Child): number {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}

const median = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN;

const percentile = (round: Round, share: number) =>
  round.latencies[Math.min(round.latencies.length - 1, Math.floor(round.latencies.length * share))] ?? Number.NaN;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function printTable(rows: readonly (readonly string[])[]): void {
  const widths = rows[0]?.map((_cell, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const row of rows) {
    print(
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  '),
    );
  }
}

const starts: number[] = [];
for (let i = 0; i < coldStarts; i++) {
  starts.push(await coldStart());
}

const bare = await startChild([path('bare.ts'), certificates]);
const server = await startChild(serveArgs);
try {
  const atRest = { bare: residentMiB(bare), server: residentMiB(server) };
  const targets = [
    { name: 'bare node:https', child: bare, request: requestBytes('/', bodyOf('create-validate.json')) },
    { name: 'mutate', child: server, request: requestBytes(webhookPaths.mutate, bodyOf('create-mutate.json')) },
    { name: 'validate', child: server, request: requestBytes(webhookPaths.validate, bodyOf('create-validate.json')) },
  ];
  const measured = await Promise.all(
    targets.map(async (target) => ({
      ...target,
      connections: await openConnections(target.child.webhookPort, connectionCount),
      rounds: [] as Round[],
    })),
  );
  for (const { connections, request } of measured) {
    await load(connections, request, milliseconds);
  }
  // Round by round in turn, so that whatever else the machine does hits all of them.
  for (let i = 0; i < rounds; i++) {
    for (const target of measured) {
      target.rounds.push(await load(target.connections, target.request, milliseconds));
    }
  }
  for (const { connections } of measured) {
    for (const socket of connections) {
      socket.destroy();
    }
  }

  print(
    `${connectionCount} kept-alive connections, ${rounds} rounds of ${milliseconds / 1000} s in turn; medians of the rounds`,
  );
  print('');
  const [yardstick] = measured;
  const table: string[][] = [['', 'requests/s', 'p50 ms', 'p99 ms', 'throughput ratio', 'p99 ratio']];
  for (const target of measured) {
    // Ratios are of neighbouring rounds; their median is steadier than the ratio of the medians.
    const ratioOf = (value: (round: Round) => number) =>
      median(target.rounds.map((round, i) => value(round) / value(yardstick?.rounds[i] ?? round))).toFixed(2);
    table.push([
      target.name,
      median(target.rounds.map((round) => round.requestsPerSecond)).toFixed(0),
      median(target.rounds.map((round) => percentile(round, 0.5))).toFixed(2),
      median(target.rounds.map((round) => percentile(round, 0.99))).toFixed(2),
      ratioOf((round) => round.requestsPerSecond),
      ratioOf((round) => percentile(round, 0.99)),
    ]);
  }
  printTable(table);
  print('');
  print(`cold start to ready: ${median(starts).toFixed(0)} ms (median of ${starts.length})`);
  print(`memory at rest:      ${atRest.server.toFixed(0)} MiB (bare: ${atRest.bare.toFixed(0)} MiB)`);
  print(`memory after load:   ${residentMiB(server).toFixed(0)} MiB (bare: ${residentMiB(bare).toFixed(0)} MiB)`);
} finally {
  await Promise.all([stopChild(bare), stopChild(server)]);
}
