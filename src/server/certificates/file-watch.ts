import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FileError, readRegularFileSync } from '../../base/index.ts';

/**
 * The contents of a file, or why it could not be read: a code (ENOENT, EACCES, ENOTREG, …) and the end of a sentence.
 */
export type FileState =
  | { text: string }
  | {
      code: string;
      problem: string;
      /** Whether not even its folder exists. */
      lacksFolder?: true;
    };

/** How often files are read: fs.watch is silent on some mounts, and after a folder was replaced. */
const defaultPollMs = 500;
/** How long to wait after a change before reading again: writers replace two files, and the kubelet a whole folder. */
const settleMs = 50;
/** Larger than any certificate file. */
const maxFileBytes = 1024 * 1024;

async function readState(path: string): Promise<FileState> {
  try {
    return { text: readRegularFileSync(path, maxFileBytes).toString('utf8') };
  } catch (error) {
    if (error instanceof FileError) {
      const { code, problem } = error;
      return { code, problem, ...(code === 'ENOENT' && !existsSync(dirname(path)) && { lacksFolder: true }) };
    }
    throw error;
  }
}

function sameStates(a: readonly FileState[], b: readonly FileState[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/**
 * Watches files by their content, so that it does not matter how they change: written in place, renamed over, or
 * through the `..data` symlink of a Kubernetes volume. Calls `onStates` (in the order of `paths`) with the first state
 * before the promise resolves, and then with each state that differs from the previous one. A state is reported only
 * when two reads in a row agree on it, since the files cannot be read at the same instant.
 *
 * @returns the function that stops it. Rejects with what `onStates` throws for the first state.
 */
export async function watchFiles(
  paths: readonly string[],
  onStates: (states: readonly FileState[]) => void,
  pollMs: number = defaultPollMs,
): Promise<() => void> {
  const end = new AbortController();
  // Not a state of any file, so that the first one differs from it.
  let reported: readonly FileState[] = [];
  const readAll = () => Promise.all(paths.map(readState));
  const pause = () => sleep(pollMs, undefined, { ref: false, signal: end.signal }).catch(() => {});

  async function check(settlingMs: number): Promise<void> {
    let states = await readAll();
    while (!end.signal.aborted && !sameStates(states, reported)) {
      await sleep(settlingMs);
      const next = await readAll();
      if (sameStates(states, next) && !end.signal.aborted) {
        reported = states;
        onStates(states);
        return;
      }
      states = next;
    }
  }

  await check(1);
  void (async () => {
    for (await pause(); !end.signal.aborted; await pause()) {
      await check(settleMs);
    }
  })();
  return () => end.abort();
}
