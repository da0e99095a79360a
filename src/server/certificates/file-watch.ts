import { existsSync, type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FileError, readRegularFile } from '../../base/index.ts';

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

/** A set of watched files. */
export interface FileWatch {
  close(): void;
}

/** How often files are read when no event reports a change: fs.watch is silent on some mounts. */
const defaultPollMs = 10_000;
/** How long to wait after a change before reading: writers replace two files, and the kubelet a whole folder. */
const settleMs = 50;
/** Larger than any certificate file. */
const maxFileBytes = 1024 * 1024;

async function readState(path: string): Promise<FileState> {
  try {
    return { text: (await readRegularFile(path, maxFileBytes)).toString('utf8') };
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
 */
export async function watchFiles(
  paths: readonly string[],
  onStates: (states: readonly FileState[]) => void,
  pollMs: number = defaultPollMs,
): Promise<FileWatch> {
  // Not a state of any file, so that the first one differs from it.
  let reported: readonly FileState[] = [];
  let closed = false;
  let checking = false;
  let again: boolean;
  let timer: NodeJS.Timeout | undefined;
  const watchers = new Map<string, FSWatcher>();

  async function readSettled(): Promise<readonly FileState[]> {
    let states = await Promise.all(paths.map(readState));
    while (!closed && !sameStates(states, reported)) {
      await sleep(reported.length === 0 ? 1 : settleMs);
      const next = await Promise.all(paths.map(readState));
      if (sameStates(states, next)) {
        break;
      }
      states = next;
    }
    return states;
  }

  function watchFolders(): void {
    for (const folder of new Set(paths.map((path) => dirname(path)))) {
      if (watchers.has(folder)) {
        continue;
      }
      try {
        const watcher = watch(folder, { persistent: false }, () => void check());
        const forget = () => {
          watchers.delete(folder);
          watcher.close();
        };
        watcher.on('error', forget);
        watchers.set(folder, watcher);
      } catch {
        // The folder does not exist yet, or the system has run out of watches: the next poll tries again.
      }
    }
  }

  async function check(): Promise<void> {
    if (checking) {
      again = true;
      return;
    }
    checking = true;
    clearTimeout(timer);
    do {
      again = false;
      watchFolders();
      const states = await readSettled();
      if (!closed && !sameStates(states, reported)) {
        reported = states;
        onStates(states);
      }
    } while (again && !closed);
    checking = false;
    if (!closed) {
      timer = setTimeout(() => {
        // When a folder is removed and created again, the old watch remains but reports nothing any more.
        for (const watcher of watchers.values()) {
          watcher.close();
        }
        watchers.clear();
        void check();
      }, pollMs);
      timer.unref();
    }
  }

  await check();
  return {
    close() {
      closed = true;
      clearTimeout(timer);
      for (const watcher of watchers.values()) {
        watcher.close();
      }
    },
  };
}
