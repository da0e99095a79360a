// Runs the decoders in turn, in a thread of its own: an endless loop here leaves the main thread to report it.
import { parentPort, workerData } from 'node:worker_threads';
import fc from 'fast-check';
import { type Decoder, decodersIn } from './decoders.ts';

/** What the main thread passes. */
export interface FuzzJob {
  folder: string;
  only: string;
  seed: number;
  /** How long all decoders run together, in ms. */
  durationMs: number;
  /** Number of runs so far, and the length of the last input in bytes. */
  progress: Int32Array<SharedArrayBuffer>;
  /** The last input, in UTF-8. */
  lastInput: Uint8Array<SharedArrayBuffer>;
}

/** What this thread reports. */
export type FuzzReport =
  | { kind: 'begins'; name: string }
  | { kind: 'ended'; name: string; runs: number }
  | { kind: 'find'; name: string; seed: number; path: string; problem: string; input: string };

const job = workerData as FuzzJob;
/** CPU time after which an input counts as one that takes too long, in ms: usual ones take less than one. */
const maxCpuMs = 2_000;
/** As text: bytes in base64. */
const shown = (input: unknown) =>
  JSON.stringify(input, (_key, value) =>
    value?.type === 'Buffer' ? Buffer.from(value.data).toString('base64') : value,
  ) ?? 'undefined';

async function runOnce({ decode, refusals }: Decoder, input: unknown): Promise<void> {
  const { written } = new TextEncoder().encodeInto(shown(input), job.lastInput);
  job.progress[1] = written;
  Atomics.add(job.progress, 0, 1);
  const before = process.threadCpuUsage();
  try {
    await decode(input as never);
  } catch (error) {
    if (!refusals.some((refusal) => error instanceof refusal)) {
      throw error;
    }
  }
  const { user, system } = process.threadCpuUsage(before);
  const cpuMs = (user + system) / 1000;
  if (cpuMs > maxCpuMs) {
    throw new Error(`took ${Math.round(cpuMs)} ms of CPU time`);
  }
}

const decoders = decodersIn(job.folder).filter(({ name }) => job.only === '' || name === job.only);
if (decoders.length === 0) {
  throw new Error(`--only: there is no decoder ${job.only}`);
}
/** How long a decoder runs before the next one, in ms: in a short run, each has one turn. */
const turnMs = Math.min(1_000, job.durationMs / decoders.length);
const counts = new Map<string, number>();
const end = performance.now() + job.durationMs;
const finds = new Set<string>();
// Each has a turn, however slow the machine is.
for (let turn = 0; turn < decoders.length || (performance.now() < end && finds.size < decoders.length); turn++) {
  const decoder = decoders[turn % decoders.length] as Decoder;
  const { name, input } = decoder;
  if (finds.has(name)) {
    continue;
  }
  parentPort?.postMessage({ kind: 'begins', name } satisfies FuzzReport);
  const property = fc.asyncProperty(input, (one) => runOnce(decoder, one));
  const seed = job.seed + turn;
  const result = await fc.check(property, {
    seed,
    numRuns: Number.MAX_SAFE_INTEGER,
    interruptAfterTimeLimit: turnMs,
  });
  counts.set(name, (counts.get(name) ?? 0) + result.numRuns);
  if (result.failed && result.counterexample !== null) {
    finds.add(name);
    const { errorInstance, counterexample, counterexamplePath } = result;
    const problem =
      errorInstance instanceof Error ? (errorInstance.stack ?? errorInstance.message) : String(errorInstance);
    const failure = { name, seed, path: counterexamplePath ?? '', problem, input: shown(counterexample[0]) };
    parentPort?.postMessage({ kind: 'find', ...failure } satisfies FuzzReport);
  }
}
for (const [name, runs] of counts) {
  parentPort?.postMessage({ kind: 'ended', name, runs } satisfies FuzzReport);
}
