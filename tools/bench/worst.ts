// Measures every hostile body at 1 and at 7 MiB: `npm run bench:worst [-- --only caBundle --sizes 1,7 --max-ratio 20]`:
// the decision beside JSON.parse of the same body, then over HTTPS against a server in a process of its own. With
// `--fuzz SECONDS [--seed N]` it measures random mixtures and mutations of those bodies instead. Times are CPU times,
// so other load does not count. Exit code 1 if a figure exceeds its limit.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpsRequest } from 'node:https';
import { parseArgs } from 'node:util';
import { webhookPaths } from '../../src/webhook/index.ts';
import { createCertificateFolder, type ServeProcess, startServeProcess } from '../../test/e2e/serve-process.ts';
import { cpuMsOf } from './program.ts';
import type { Job, Judged } from './worst/judge.ts';
import { type Shape, shapes } from './worst/shapes.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    sizes: { type: 'string', default: '1,7' },
    'max-ratio': { type: 'string', default: '20' },
    // Conversions of 5 MiB of unknown fields take 1.5 s, a third of it in JSON.parse; the side thread decides on them.
    'max-ms': { type: 'string', default: '2500' },
    'max-answer-mib': { type: 'string', default: '1' },
    'max-resident-mib': { type: 'string', default: '2048' },
    fuzz: { type: 'string' },
    seed: { type: 'string' },
    all: { type: 'boolean', default: false },
  },
});
const mebibyte = 1024 * 1024;
const sizes = values.sizes.split(',').map(Number);
/** A little less than nominal: the server accepts 7 MiB, and the largest texts grow a little in JSON. */
const bytesOf = (size: number) => size * mebibyte - 4096;
const maxRatio = Number(values['max-ratio']);
const maxDecisionMs = Number(values['max-ms']);
const maxAnswerBytes = Number(values['max-answer-mib']) * mebibyte;
const maxResidentMiB = Number(values['max-resident-mib']);
/** Wall time: a decision that takes longer is stopped and counts as endless. Ten times what a busy machine needs. */
const timeLimitMs = 120_000;
const doubtful = { ratio: maxRatio / 2, ms: maxDecisionMs };
/** Below this much work, ratios say more about the clock than about the work. */
const negligibleMs = 5;

const out = (text: string) => process.stdout.write(`${text}\n`);
const progress = (text: string) => {
  if (process.stderr.isTTY) {
    process.stderr.write(`\r\x1b[K${text.slice(0, 100)}`);
  }
};
const inMiB = (bytes: number) => (bytes / mebibyte).toFixed(2);

/** A measuring process; replaced when a job takes too long. */
function createJudge() {
  let child: ChildProcess | undefined;
  return {
    async judge(job: Job): Promise<Judged | 'no end'> {
      // A job sent to a process that is about to exit fails like an endless one.
      child ??= fork(new URL('./worst/judge.ts', import.meta.url), { stdio: 'inherit' }).on('error', () => {});
      const over = new AbortController();
      const timer = setTimeout(() => over.abort(), timeLimitMs);
      try {
        const answered = once(child, 'message', { signal: over.signal });
        const ended = once(child, 'exit', { signal: over.signal }).then(() => {
          throw new Error('the process ended');
        });
        child.send(job);
        const [judged] = (await Promise.race([answered, ended])) as [Judged];
        return judged;
      } catch {
        child.kill('SIGKILL');
        child = undefined;
        return 'no end';
      } finally {
        clearTimeout(timer);
        // Removes the listener that was not called.
        over.abort();
      }
    },
    stop() {
      child?.kill('SIGKILL');
    },
  };
}

interface Answered {
  status: number;
  /** CPU time of the server. */
  ms: number;
  bytes: number;
}

function post(server: ServeProcess, path: string, body: Buffer, agent: Agent): Promise<Answered> {
  const started = cpuMsOf(server.pid);
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const call = httpsRequest(
      { host: '127.0.0.1', port: server.webhookPort, path, method: 'POST', agent, rejectUnauthorized: false, headers },
      (response) => {
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
        });
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, ms: cpuMsOf(server.pid) - started, bytes }),
        );
      },
    );
    call.setTimeout(timeLimitMs, () => call.destroy(new Error('no response in time')));
    call.on('error', reject);
    call.end(body);
  });
}

interface Row extends Judged {
  http?: Answered | undefined;
  residentMiB: number;
  /** The figures over a limit. */
  over: string[];
}

/** The largest response allowed: a conversion returns the objects it was sent. */
const answerLimit = (webhook: Shape['webhook'], bodyBytes: number) =>
  maxAnswerBytes + (webhook === 'convert' ? bodyBytes : 0);

function verdictsOn(webhook: Shape['webhook'], row: Omit<Row, 'over'>): string[] {
  const over: string[] = [];
  if (row.ratio > maxRatio && row.decisionMs > negligibleMs) {
    over.push(`ratio ${row.ratio.toFixed(1)}`);
  }
  if (row.decisionMs > maxDecisionMs) {
    over.push(`${row.decisionMs.toFixed(0)} ms`);
  }
  const answerBytes = Math.max(row.answerBytes, row.http?.bytes ?? 0);
  if (answerBytes > answerLimit(webhook, row.bodyBytes)) {
    over.push(`response of ${inMiB(answerBytes)} MiB`);
  }
  if (row.residentMiB > maxResidentMiB) {
    over.push(`${row.residentMiB.toFixed(0)} MiB RSS`);
  }
  return over;
}

function printRow({ name, bodyBytes, parseMs, decisionMs, ratio, answerBytes, http, residentMiB, over }: Row): void {
  out(
    [
      inMiB(bodyBytes).padStart(5),
      parseMs.toFixed(2).padStart(8),
      decisionMs.toFixed(2).padStart(9),
      ratio.toFixed(1).padStart(6),
      (http === undefined ? '-' : http.ms.toFixed(0)).padStart(8),
      inMiB(http?.bytes ?? answerBytes).padStart(7),
      (Number.isNaN(residentMiB) ? '-' : residentMiB.toFixed(0)).padStart(8),
      ` ${name}${over.length > 0 ? `  OVER: ${over.join(', ')}` : ''}`,
    ].join(' '),
  );
}

const header = '  MiB parse ms  total ms  ratio HTTPS ms out MiB  RSS MiB  body';

async function measureShapes(): Promise<Row[]> {
  const judge = createJudge();
  const folder = createCertificateFolder();
  const start = () => startServeProcess(folder);
  let server: ServeProcess = await start();
  let agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const rows: Row[] = [];
  const chosen = shapes
    .map((shape, index) => ({ shape, index }))
    .filter(({ shape }) => shape.name.includes(values.only));
  try {
    for (const size of sizes) {
      const sizeBytes = bytesOf(size);
      for (const [done, { shape, index }] of chosen.entries()) {
        progress(`${size} MiB: ${done}/${chosen.length} ${shape.name}`);
        const judged = await judge.judge({ shape: index, sizeBytes, doubtful });
        if (judged === 'no end') {
          const row = { name: shape.name, bodyBytes: sizeBytes, parseMs: Number.NaN, decisionMs: Number.NaN };
          rows.push({
            ...row,
            ...{ ratio: Number.POSITIVE_INFINITY, answerBytes: 0, residentMiB: Number.NaN, over: ['timed out'] },
          });
          continue;
        }
        let http: Answered | undefined;
        let failure: string | undefined;
        try {
          http = await post(server, webhookPaths[shape.webhook], shape.body(sizeBytes), agent);
        } catch (error) {
          failure = (error as Error).message;
        }
        const row = { ...judged, http, residentMiB: (server.residentBytes() ?? Number.NaN) / mebibyte };
        const over = [...verdictsOn(shape.webhook, row), ...(failure === undefined ? [] : [failure])];
        rows.push({ ...row, over });
        if (failure !== undefined) {
          process.kill(server.pid, 'SIGKILL');
          agent.destroy();
          agent = new Agent({ keepAlive: true, maxSockets: 1 });
          server = await start();
        }
      }
    }
  } finally {
    judge.stop();
    agent.destroy();
    process.kill(server.pid, 'SIGKILL');
    folder.remove();
    progress('');
  }
  return rows;
}

function report(rows: readonly Row[]): number {
  const byRatio = rows.toSorted((a, b) => b.ratio - a.ratio);
  const over = byRatio.filter((row) => row.over.length > 0);
  out(header);
  for (const row of values.all ? byRatio : byRatio.slice(0, Math.max(over.length, 25))) {
    printRow(row);
  }
  const most = (of: (row: Row) => number) => Math.max(...rows.map(of).filter((value) => !Number.isNaN(value)));
  const telling = byRatio.filter(({ decisionMs }) => !(decisionMs <= negligibleMs));
  const overHttps = rows.some(({ http }) => http !== undefined)
    ? `; most CPU time over HTTPS ${most((row) => row.http?.ms ?? 0).toFixed(0)} ms; peak RSS ${most((row) => row.residentMiB).toFixed(0)} MiB`
    : '';
  out(
    `${rows.length} bodies; worst ratio ${telling[0]?.ratio.toFixed(1)} (limit ${maxRatio}); largest response ${inMiB(most((row) => row.http?.bytes ?? row.answerBytes))} MiB${overHttps}`,
  );
  out(over.length === 0 ? 'all within the limits' : `${over.length} over a limit`);
  return over.length === 0 ? 0 : 1;
}

/** Measures variants for some time; each has a seed, with which it can be measured alone: `--fuzz 0 --seed N`. */
async function fuzz(seconds: number): Promise<number> {
  const judge = createJudge();
  const first = Number(values.seed ?? Date.now() % 1_000_000_000);
  const ends = performance.now() + seconds * 1000;
  const sizeBytes = bytesOf(sizes[0] ?? 1);
  const rows: Row[] = [];
  let count = 0;
  for (let seed = first; seed === first || performance.now() < ends; seed++) {
    progress(`seed ${seed}`);
    count++;
    const judged = await judge.judge({ seed, sizeBytes, doubtful });
    if (judged === 'no end') {
      const figures = { bodyBytes: sizeBytes, parseMs: Number.NaN, decisionMs: Number.NaN, answerBytes: 0 };
      const name = `--seed ${seed}`;
      rows.push({ name, ...figures, ratio: Number.POSITIVE_INFINITY, residentMiB: Number.NaN, over: ['timed out'] });
      continue;
    }
    const webhook = judged.name.slice(0, judged.name.indexOf(':')) as Shape['webhook'];
    const row = { ...judged, name: `--seed ${seed} ${judged.name}`, residentMiB: Number.NaN };
    rows.push({ ...row, over: verdictsOn(webhook, row) });
  }
  judge.stop();
  progress('');
  out(`fuzzed: ${count} bodies of about ${sizes[0]} MiB, seeds ${first} to ${first + count - 1}`);
  return report(rows);
}

process.exitCode = values.fuzz === undefined ? report(await measureShapes()) : await fuzz(Number(values.fuzz));
