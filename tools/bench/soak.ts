// Mixed load for a long time, while memory and file descriptors are watched: `npm run soak -- --minutes 10`. Ordinary
// reviews (allowed, defaulted, denied) on keep-alive connections; beside them hostile requests, and, from processes of
// their own, every known hostile body, callers that never read, more idle connections than file descriptors, slow senders,
// and chunk extensions without end; a new certificate every second; at the end SIGTERM under load. Next to it an extension
// server whose log goes to a full disk, with callers that resume sessions with expired certificates or send padding over
// HTTP/2. Exit code 1 if an ordinary request failed or took too long, an attack succeeded, or something leaked or grew.
import { type ChildProcess, fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { selfSignedPair } from '../../src/server/index.ts';
import { createCertificateFolder, startServeProcess } from '../../test/e2e/serve-process.ts';
import { largeCall, send, startLoad } from '../../test/e2e/traffic.ts';
import type { Assaults } from './worst/assault.ts';
import { startExtensionUnderAttack } from './worst/attacked-extension.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '0.5' },
    callers: { type: 'string', default: '8' },
    hostile: { type: 'string', default: '2' },
    assaults: { type: 'string', default: '1' },
    'open-files': { type: 'string', default: '300' },
    'max-p99': { type: 'string', default: '250' },
    'max-resident-mib': { type: 'string', default: '2048' },
  },
});
const milliseconds = Number(values.minutes) * 60_000;
/** By then all code is compiled, and V8 has given the heap the size that the load needs. */
const warmUpMs = 60_000;
const mebibyte = 1024 * 1024;
const out = (text: string) => process.stdout.write(`${text}\n`);

const pairs = Array.from({ length: 4 }, () => selfSignedPair(new Date()));
const folder = createCertificateFolder(pairs[0]);
const server = await startServeProcess(folder, ['--shutdown-delay', '2'], {
  openFiles: Number(values['open-files']),
});
// The thread for large bodies, which opens files of its own, starts with the first of them.
await send(server.webhookPort, largeCall, false);
const filesAtRest = server.openFiles() ?? 0;
out(`at rest: ${Math.round((server.residentBytes() ?? 0) / mebibyte)} MiB resident, ${filesAtRest} files`);

const load = startLoad(() => server.webhookPort, { callers: Number(values.callers), hostile: Number(values.hostile) });
const done = Array.from(
  { length: Number(values.assaults) },
  (): Assaults => ({ bodies: 0, unread: 0, hoarded: 0, slow: 0, extended: 0 }),
);
const assailants = done.map((_, index): ChildProcess => {
  const start = index * 127;
  return fork(new URL('./worst/assault.ts', import.meta.url), [String(server.webhookPort), String(start)]).on(
    'message',
    (counts: Assaults) => {
      done[index] = counts;
    },
  );
});
const all = (what: keyof Assaults) => done.reduce((sum, counts) => sum + counts[what], 0);
const extension = await startExtensionUnderAttack();
let swaps = 0;
const swapping = setInterval(() => {
  swaps++;
  folder.swap(pairs[swaps % pairs.length]!);
}, 1_000);

/** MiB of serve and of the extension server since the warm-up. */
const resident: number[] = [];
const residentOfExtension: number[] = [];
let peak = 0;
const started = performance.now();
out('seconds  answered  hostile  problems  resident MiB  heap MiB  files  connections');
while (performance.now() - started < milliseconds) {
  await sleep(Math.min(5_000, milliseconds / 10));
  const rss = (server.residentBytes() ?? 0) / mebibyte;
  peak = Math.max(peak, rss);
  if (performance.now() - started > warmUpMs) {
    resident.push(rss);
    residentOfExtension.push(extension.residentMiB());
  }
  out(
    [
      [Math.round((performance.now() - started) / 1000), 7],
      [load.tally.answered, 8],
      [load.tally.hostile, 7],
      [load.tally.problems.length, 8],
      [Math.round(rss), 12],
      [Math.round((await server.metric('nodejs_heap_size_used_bytes')) / mebibyte), 8],
      [server.openFiles() ?? '?', 5],
      [await server.metric('extensionconfig_webhook_connections'), 11],
    ]
      .map(([value, width]) => String(value).padStart(width as number))
      .join('  '),
  );
}

const seconds = (performance.now() - started) / 1000;
// The callers go on: all they may notice of the end is that they are told to close.
clearInterval(swapping);
for (const assailant of assailants) {
  assailant.kill('SIGKILL');
}
const reloads = await server.metric('extensionconfig_webhook_certificate_reloads_total{result="success"}');
const filesUnderLoad = server.openFiles() ?? 0;
await load.stop();
await sleep(3_000);
const filesAfter = server.openFiles() ?? 0;
const connectionsAfter = await server.metric('extensionconfig_webhook_connections');
const last = await stopUnderLoad();
const extensionProblems = await extension.stop();
folder.remove();

/** SIGTERM while callers send; each of them ends when it is told to close. */
async function stopUnderLoad(): Promise<string[]> {
  let stopped: Promise<number | null> | undefined;
  let isClosing = false;
  const final = startLoad(
    () => {
      // A caller that was told to close has no other server to go to.
      isClosing = stopped !== undefined;
      return server.webhookPort;
    },
    { callers: 4 },
  );
  await sleep(500);
  stopped = server.stop();
  while (!isClosing) {
    await sleep(10);
  }
  const { problems } = await final.stop();
  const code = await stopped;
  return code === 0 ? problems : [...problems, `serve exited with code ${code}`];
}

out(
  `${load.tally.answered} reviews (${Math.round(load.tally.answered / seconds)} a second), ${load.tally.hostile} hostile requests, ${swaps} certificate swaps (${reloads} loaded) in ${Math.round(seconds)} s`,
);
out(
  `files: ${filesAtRest} at rest, ${filesUnderLoad} under load, ${filesAfter} after it; connections after it: ${connectionsAfter}`,
);
out(`SIGTERM under load: ${last.length} failed requests`);
const latencies = Float64Array.from(load.tally.latencies).sort();
const percentile = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN;
out(
  `attacks: ${all('bodies')} hostile bodies, ${all('unread')} unread responses, ${all('hoarded')} idle connections, ${all('slow')} slow senders, ${all('extended')} senders of chunk extensions`,
);
out(
  `ordinary reviews: p50 ${percentile(0.5).toFixed(1)} ms, p99 ${percentile(0.99).toFixed(1)} ms (limit ${values['max-p99']}), slowest ${percentile(1).toFixed(0)} ms`,
);
const isSlow = !(percentile(0.99) <= Number(values['max-p99']));
const isLarge = peak > Number(values['max-resident-mib']);
out(`resident: peak ${Math.round(peak)} MiB`);
out(isLarge ? `memory is OVER ${values['max-resident-mib']} MiB` : 'memory is below the limit of the pod');
const problems = [...load.tally.problems, ...last, ...extensionProblems];
for (const problem of problems.slice(0, 20)) {
  out(`problem: ${problem}`);
}
// Keep-alive connections are closed by the callers, which have done so.
const leaked = filesAfter > filesAtRest + 2 || connectionsAfter > 0;
out(leaked ? 'LEAKED files or connections' : 'nothing leaked');

/**
 * Whether memory has grown since the warm-up: the least of the last third is a fifth more than that of the first. Whatever
 * a garbage collection leaves is in the least; the rest depends on when the last one was.
 */
function hasGrown(name: string, mebibytes: readonly number[]): boolean {
  const third = Math.floor(mebibytes.length / 3);
  if (third < 3) {
    out(`memory of ${name}: not judged: a run of at least ${(2 * warmUpMs) / 60_000} minutes shows whether it grows`);
    return false;
  }
  const [first, last] = [Math.min(...mebibytes.slice(0, third)), Math.min(...mebibytes.slice(-third))];
  const grows = last > 1.2 * first;
  out(
    `memory of ${name}: ${grows ? 'GREW' : 'is stable'}: at least ${Math.round(first)} MiB in the first third after the warm-up, ${Math.round(last)} in the last`,
  );
  return grows;
}
const grew = [hasGrown('serve', resident), hasGrown('the extension server', residentOfExtension)].includes(true);
process.exitCode = problems.length > 0 || leaked || grew || isSlow || isLarge ? 1 : 0;
