import { statSync } from 'node:fs';
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

/**
 * Has Node.js keep what it compiles of this program, for the next start: a third of a start is compiling. In a folder of the
 * user's own, not in the temporary one, where others could lay out code for us. NODE_COMPILE_CACHE names another and
 * NODE_DISABLE_COMPILE_CACHE=1 does without, as with every program on Node.js; where nothing can be written, nothing is kept.
 */
export function keepCompiledCode(env: NodeJS.ProcessEnv): void {
  const cacheFolder = cacheFolderOf(env);
  // With NODE_COMPILE_CACHE, Node.js keeps it by itself.
  if (cacheFolder !== undefined && env.NODE_COMPILE_CACHE === undefined) {
    enableCompileCache(join(cacheFolder, 'extensionconfig-webhook'));
  }
}
