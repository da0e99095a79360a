// Measures an extension written with the SDK beside a bare node:https handler that parses the same bodies and sends the
// same responses: `npm run bench:extension [-- --rounds 5 --seconds 1 --callers 1,4]`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { selfSignedPair } from '../../src/server/index.ts';
import { benchCalls } from './extension-calls.ts';
import { load, openConnections, requestBytes } from './load.ts';
import { median, type Program, printTable, startProgram } from './program.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
    callers: { type: 'string', default: '1,4' },
  },
});
const rounds = Number(values.rounds);
const milliseconds = Number(values.seconds) * 1000;
const callerCounts = values.callers.split(',').map(Number);

const certificates = mkdtempSync(join(tmpdir(), 'bench-'));
const pair = selfSignedPair(new Date());
writeFileSync(join(certificates, 'tls.crt'), pair.cert);
writeFileSync(join(certificates, 'tls.key'), pair.key, { mode: 0o600 });
process.once('exit', () => rmSync(certificates, { recursive: true }));

async function measure(program: Program, request: Buffer, callers: number) {
  const connections = await openConnections(program.webhookPort, callers);
  const before = program.cpuMs();
  const { requestsPerSecond, latencies } = await load(connections, request, milliseconds);
  const cpuMs = program.cpuMs() - before;
  for (const socket of connections) {
    socket.destroy();
  }
  return {
    cpu: (cpuMs * 1000) / latencies.length,
    perSecond: requestsPerSecond,
    p50: latencies[latencies.length >> 1] ?? Number.NaN,
    p99: latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * 0.99))] ?? Number.NaN,
  };
}

const program = fileURLToPath(new URL('extension-server.ts', import.meta.url));
const sdk = await startProgram([program, certificates, 'sdk']);
const bare = await startProgram([program, certificates, 'bare']);
try {
  const rows: string[][] = [
    ['call', 'KiB', 'callers', 'per s', 'bare', 'ratio', 'CPU µs', 'bare', 'share', 'p50 ms', 'p99 ms', 'bare'],
  ];
  for (const { name, path, body } of benchCalls) {
    const request = requestBytes(path, body);
    await measure(sdk, request, 4);
    await measure(bare, request, 4);
    for (const callers of callerCounts) {
      const pairs: { ours: Awaited<ReturnType<typeof measure>>; theirs: Awaited<ReturnType<typeof measure>> }[] = [];
      // In turn, so that other load on the machine affects both; each goes first equally often.
      for (let i = 0; i < rounds; i++) {
        const first = await measure(i % 2 === 0 ? sdk : bare, request, callers);
        const second = await measure(i % 2 === 0 ? bare : sdk, request, callers);
        pairs.push(i % 2 === 0 ? { ours: first, theirs: second } : { ours: second, theirs: first });
      }
      rows.push([
        name,
        (body.length / 1024).toFixed(0),
        String(callers),
        median(pairs.map(({ ours }) => ours.perSecond)).toFixed(0),
        median(pairs.map(({ theirs }) => theirs.perSecond)).toFixed(0),
        median(pairs.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond)).toFixed(2),
        median(pairs.map(({ ours }) => ours.cpu)).toFixed(0),
        median(pairs.map(({ theirs }) => theirs.cpu)).toFixed(0),
        median(pairs.map(({ ours, theirs }) => theirs.cpu / ours.cpu)).toFixed(2),
        median(pairs.map(({ ours }) => ours.p50)).toFixed(2),
        median(pairs.map(({ ours }) => ours.p99)).toFixed(2),
        median(pairs.map(({ theirs }) => theirs.p99)).toFixed(2),
      ]);
    }
  }
  process.stdout.write(
    `medians of ${rounds} rounds of ${milliseconds / 1000} s in turn, beside a bare node:https handler (target: a ratio of 0.8, p99 of GeneratePatches under 20 ms)\n`,
  );
  printTable(rows);
} finally {
  await Promise.all([sdk.stop(), bare.stop()]);
}
