import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { withoutDisturbances } from './environment.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder of this run of the tests, which is gone when it ends. */
    runFolder: string;
  }
}

/** Files that Node.js keeps of what the tests start are some 4,000: more of them are of what is gone. */
const mostCompiled = 12_000;

/**
 * Where what Node.js compiles is kept for the next run: of the program, which is started a hundred times in a run, and of
 * its dependencies; not in the user's own cache.
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
/** What npm needs there for the package, several times over, and kubectl for each sandbox, in bytes. */
const enough = 64 * 1024 * 1024;

/**
 * A folder for the caches of programs that the tests start, in memory where there is some: npm unpacks a package in its cache to
 * look into it, and deletes that; kubectl keeps sixty files for each sandbox. Without a journal, ext4 looks at every file deleted
 * in the last minute before it makes one: a second for a thousand.
 */
function cacheFolder(folder: string): string {
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize > enough) {
      return mkdtempSync(join(memory, 'test-run-'));
    }
  } catch {
    // Another system, or not for this user.
  }
  return mkdtempSync(join(folder, 'caches-'));
}

/** Makes the folder where test files of one run share what takes long to make (see once-a-run.ts), and the environment. */
export default function setUp(project: TestProject): () => void {
  withoutDisturbances(process.env);
  const folder = mkdtempSync(join(tmpdir(), 'test-run-'));
  project.provide('runFolder', folder);
  const caches = cacheFolder(folder);
  mkdirSync(join(caches, 'npm'));
  symlinkSync(join(caches, 'npm'), join(folder, 'npm'));
  // By paths relative to it: what the next run copies to its own folder is compiled already.
  symlinkSync(compiledCode(), join(folder, 'compiled'));
  Object.assign(process.env, { NODE_COMPILE_CACHE: join(folder, 'compiled'), NODE_COMPILE_CACHE_PORTABLE: '1' });
  // Each of some hundred kubectls lives for a moment, and ends before its garbage would matter.
  process.env.GOGC ??= 'off';
  // Else npm asks the registry for a newer npm at each start, and loads for that what it needs for little else.
  process.env.npm_config_update_notifier = 'false';
  // It keeps a folder for each server and port: of sandboxes that are gone soon, and not in the user's own cache.
  process.env.KUBECACHEDIR = join(caches, 'kubectl');
  return () => {
    for (const made of [caches, folder]) {
      rmSync(made, { recursive: true, force: true });
    }
  };
}
