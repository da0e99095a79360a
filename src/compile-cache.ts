import { closeSync, openSync, readdirSync, statSync, unlinkSync, utimesSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Whether a folder is the user's own: with sudo, HOME can be another user's, who could plant code there. */
function isOwn(folder: string): boolean {
  try {
    return process.getuid === undefined || statSync(folder).uid === process.getuid();
  } catch {
    return false;
  }
}

/** Where users keep such things (XDG Base Directory specification), or undefined where this one has no such place. */
function cacheFolderOf(env: NodeJS.ProcessEnv): string | undefined {
  const { XDG_CACHE_HOME: chosen } = env;
  if (chosen !== undefined && isAbsolute(chosen)) {
    return isOwn(chosen) ? chosen : undefined;
  }
  try {
    const home = env.HOME || userInfo().homedir;
    return isOwn(home) ? join(home, '.cache') : undefined;
  } catch {
    // A user of whom the system knows nothing but the number.
    return undefined;
  }
}

const day = 24 * 60 * 60 * 1000;
/** How long a file is kept after it was written, in milliseconds. */
const kept = 30 * day;
/** The longest that a start may wait for the deletion of old files, in milliseconds. */
const patience = 100;

/** The files of a cache folder: one folder below it for each Node.js, and one for each other thing that is kept. */
function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) {
      const below = join(folder, entry.name);
      for (const file of readdirSync(below)) {
        yield join(below, file);
      }
    }
  }
}

/**
 * Deletes what was written more than 30 days ago, at most once a day: Node.js never deletes what it keeps of versions and
 * checkouts that are gone. What is deleted although it is in use is written again at the next start.
 */
function deleteOld(folder: string): void {
  const now = Date.now();
  const marker = join(folder, 'cleaned');
  try {
    if (now - (statSync(marker, { throwIfNoEntry: false })?.mtimeMs ?? 0) < day) {
      return;
    }
    closeSync(openSync(marker, 'a', 0o600));
    utimesSync(marker, now / 1000, now / 1000);
    for (const file of filesIn(folder)) {
      if (now - statSync(file).mtimeMs > kept) {
        unlinkSync(file);
      }
      if (Date.now() - now > patience) {
        return;
      }
    }
  } catch {
    // Not writable, or another start is at it: the next day is soon enough.
  }
}

/**
 * Has Node.js keep what it compiles of this program, for the next start: a third of a start is compiling. In a folder of the
 * user's own, not in the temporary one, where others could lay out code for us. NODE_COMPILE_CACHE names another and
 * NODE_DISABLE_COMPILE_CACHE=1 does without, as with every program on Node.js; where nothing can be written, nothing is kept.
 */
export function keepCompiledCode(env: NodeJS.ProcessEnv): void {
  const cacheFolder = cacheFolderOf(env);
  // With NODE_COMPILE_CACHE, Node.js keeps it by itself.
  if (cacheFolder !== undefined && env.NODE_COMPILE_CACHE === undefined) {
    const folder = join(cacheFolder, 'extensionconfig-webhook');
    enableCompileCache(folder);
    deleteOld(folder);
  }
}
