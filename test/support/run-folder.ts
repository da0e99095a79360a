import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { withoutDisturbances } from './environment.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder of this test run, which is removed at its end. */
    runFolder: string;
  }
}

/** The compile cache of all that tests start has some 4,000 files: more than that are stale. */
const mostCompiled = 12_000;

/**
 * Node.js's compile cache, kept for the next run: of the program, which is started a hundred times in a run, and of its
 * dependencies; separate from the user's own cache.
 */
function compiledCode(): string {
  const folder = join(import.meta.dirname, '../../node_modules/.cache/compiled-for-tests');
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder, { recursive: true }).length > mostCompiled) {
    rmSync(folder, { recursive: true });
  }
  return folder;
}

/** Where Linux keeps files in memory. */
const memory = '/dev/shm';
/** Space that is needed there, with plenty to spare: npm alone has the package in its cache several times. In bytes. */
const enough = 256 * 1024 * 1024;

/** Whether programs in a folder may be started: containers often forbid it where files are in memory. */
function canStartPrograms(folder: string): boolean {
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
  const { status } = spawnSync(program);
  rmSync(program);
  return status === 0;
}

/**
 * Removes what killed runs have left in memory, where it would take space until a restart: folders whose names have the
 * number of a process that is gone.
 *
 * @returns how the names of this process's folders begin. A container may share the memory and count its own processes.
 */
function removeLeftovers(): string {
  const countedHere = `test-run-${statSync('/proc/self/ns/pid').ino.toString(36)}-`;
  for (const name of readdirSync(memory)) {
    const [pid = '', random] = name.startsWith(countedHere) ? name.slice(countedHere.length).split('-') : [];
    if (random !== undefined && !existsSync(`/proc/${Number.parseInt(pid, 36)}`)) {
      try {
        rmSync(join(memory, name), { recursive: true, force: true });
      } catch {
        // Another user's.
      }
    }
  }
  return `${countedHere}${process.pid.toString(36)}-`;
}

/**
 * A new folder for the files of a run: temporary ones, and the caches of programs that tests start; in memory if
 * possible: a run makes and deletes tens of thousands of files. Without a journal, ext4 checks every file deleted in the
 * last minute before it creates one: a second for a thousand files.
 */
function makeFolder(): string {
  let made: string | undefined;
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize > enough) {
      made = mkdtempSync(join(memory, removeLeftovers()));
      if (canStartPrograms(made)) {
        return made;
      }
    }
  } catch {
    // Another system, or not writable for this user.
  }
  if (made !== undefined) {
    rmSync(made, { recursive: true });
  }
  return mkdtempSync(join(tmpdir(), 'test-run-'));
}

/**
 * kubectl and tsc, which are written in Go, spend a third of their CPU time on collecting garbage, and end before it
 * matters: kubectl needs 110 MB without, tsc 860. Close to its limit, tsc would spend even more on it.
 */
const withoutCollection = { GOGC: 'off', GOMEMLIMIT: '2GiB' };

/**
 * Makes the folder in which test files of one run share results that take long to make (see once-a-run.ts), and the
 * environment.
 */
export default function setUp(project: TestProject): () => void {
  withoutDisturbances(process.env);
  // As for most users, and inherited by the processes of tests: they check the modes of files.
  process.umask(0o022);
  const folder = makeFolder();
  // As /tmp is: some tests start a program as another user.
  chmodSync(folder, 0o755);
  project.provide('runFolder', folder);
  for (const name of ['npm', 'kubectl', 'tmp']) {
    mkdirSync(join(folder, name));
  }
  process.env.TMPDIR = join(folder, 'tmp');
  // Paths relative to the cache: files that the next run copies to its own folder are compiled already.
  symlinkSync(compiledCode(), join(folder, 'compiled'));
  Object.assign(process.env, { NODE_COMPILE_CACHE: join(folder, 'compiled'), NODE_COMPILE_CACHE_PORTABLE: '1' });
  // Otherwise npm asks the registry for a newer npm at each start, and loads modules for that alone.
  process.env.npm_config_update_notifier = 'false';
  // It keeps a folder for each server and port: these are of short-lived sandboxes, and do not belong in the user's own
  // cache.
  process.env.KUBECACHEDIR = join(folder, 'kubectl');
  Object.assign(process.env, withoutCollection);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  // After Ctrl-C Vitest does not call what this returns, and in memory the folder would take space until a restart.
  process.once('exit', remove);
  return remove;
}
