// Feeds every decoder with damaged input: `npm run fuzz -- [--minutes 1] [--only NAME] [--seed N]`. Exit code 1 with the
// smallest input for each find, which then becomes a test. Not guided by coverage: Jazzer.js 4 needs glibc 2.38, newer than
// that of Debian 12 and of the image, and older releases download their binaries.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { FuzzJob, FuzzReport } from './worker.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
if (!(minutes > 0 && Number.isInteger(seed))) {
  throw new Error('--minutes must be a number above 0, --seed a whole number');
}

/** How long one input may take before it counts as endless, in ms; a busy machine takes its time. */
const hangMs = 30_000;
const longestInput = 1024 * 1024;

const folder = mkdtempSync(join(tmpdir(), 'fuzz-'));
const progress = new Int32Array(new SharedArrayBuffer(8));
const lastInput = new Uint8Array(new SharedArrayBuffer(longestInput));
const workerData: FuzzJob = { folder, only: values.only, seed, durationMs: minutes * 60_000, progress, lastInput };
const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData });
let current = '';
let finds = 0;

function report(name: string, problem: string, input: string): void {
  finds++;
  const text = input.length > 4_000 ? `${input.slice(0, 4_000)}… (${input.length} characters)` : input;
  process.stderr.write(
    `FIND in ${name}: ${problem}\n  input: ${text}\n  again: npm run fuzz -- --only ${name} --seed ${seed}\n`,
  );
}

worker.on('message', (message: FuzzReport) => {
  switch (message.kind) {
    case 'begins':
      current = message.name;
      return;
    case 'ended':
      process.stdout.write(`${message.name.padEnd(14)} ${message.runs} inputs\n`);
      return;
    case 'find':
      report(message.name, `${message.problem}\n  seed ${message.seed}, path ${message.path}`, message.input);
  }
});

let runs = 0;
const watchdog = setInterval(() => {
  const now = Atomics.load(progress, 0);
  // Nothing has run before the decoders are loaded.
  if (now === runs && now > 0) {
    report(current, `no end after ${hangMs / 1000} s`, Buffer.from(lastInput.slice(0, progress[1])).toString());
    void worker.terminate();
  }
  runs = now;
}, hangMs);

worker.on('error', (error) => report(current || 'the start', error.stack ?? String(error), ''));
worker.on('exit', () => {
  clearInterval(watchdog);
  rmSync(folder, { recursive: true });
  process.stdout.write(`seed ${seed}: ${finds === 0 ? 'nothing was found' : `${finds} found`}\n`);
  process.exitCode = finds === 0 ? 0 : 1;
});
