import { Readable, Writable } from 'node:stream';
import { onTestFailed } from 'vitest';
import { run } from '../../../src/cli/index.ts';

/** The result of a run of the program. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** What a test can pass to a run. */
export interface RunOptions {
  stdin?: string | Readable;
  env?: NodeJS.ProcessEnv;
  signal?: AbortSignal;
  isTTY?: boolean;
}

/** Runs the program in this process, until it exits by itself. */
export function runProgram(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return startProgram(args, options).ended;
}

/** Shows what a program has written to stderr if the test that runs it fails, for example over its exit code. */
function showIfFailed(args: readonly string[], stderr: () => string): void {
  try {
    onTestFailed(() => void process.stderr.write(`stderr of ${args.join(' ').slice(0, 200)}:\n${stderr()}\n`));
  } catch {
    // Started for several tests, outside of each.
  }
}

/** Starts the program in this process: its output so far, a function that sends a signal, and its end. */
export function startProgram(args: readonly string[], options: RunOptions = {}) {
  const text = { stdout: '', stderr: '' };
  const collect = (to: 'stdout' | 'stderr') =>
    Object.assign(
      new Writable({
        write(chunk, _, done) {
          text[to] += String(chunk);
          done();
        },
      }),
      { isTTY: options.isTTY ?? false },
    );
  showIfFailed(args, () => text.stderr);
  const stdin = options.stdin ?? '';
  const stopping = new AbortController();
  const running = run(args, {
    stdin: typeof stdin === 'string' ? Readable.from([Buffer.from(stdin)]) : stdin,
    stdout: collect('stdout'),
    stderr: collect('stderr'),
    env: options.env ?? {},
    signal: options.signal ?? stopping.signal,
  });
  return {
    ended: running.then((code): Ended => ({ code, ...text })),
    stop: (signal: NodeJS.Signals) => stopping.abort(signal),
    stdout: () => text.stdout,
  };
}
