// JavaScript, and without imports from our sources: everything that is loaded before this is compiled at each start,
// and the first TypeScript file requires a compiler, which takes 40 ms.
'use strict';

const fs = require('node:fs');
const { constants, enableCompileCache } = require('node:module');
const os = require('node:os');
const path = require('node:path');

/** Whether a folder belongs to the user: with sudo, HOME can be another user's, who could plant code there. */
function isOwn(folder) {
  try {
    return process.getuid === undefined || fs.statSync(folder).uid === process.getuid();
  } catch {
    return false;
  }
}

/**
 * Creates a folder if it is missing, and returns whether it belongs to the user. Not recursively: where the system
 * cannot create folders (below /proc), Node.js would never return.
 */
function isMadeOwn(folder) {
  if (!fs.existsSync(folder)) {
    try {
      fs.mkdirSync(folder, { mode: 0o700 });
    } catch {
      // Another process was faster, or the folder cannot be written.
    }
  }
  return isOwn(folder);
}

/** The user's cache folder (XDG Base Directory specification); undefined if there is none. */
function cacheFolderOf(env) {
  const chosen = env.XDG_CACHE_HOME;
  if (chosen !== undefined && path.isAbsolute(chosen)) {
    return isOwn(chosen) ? chosen : undefined;
  }
  try {
    const home = env.HOME || os.userInfo().homedir;
    const usual = path.join(home, '.cache');
    return isOwn(home) && isMadeOwn(usual) ? usual : undefined;
  } catch {
    // The system knows only the number of this user.
    return undefined;
  }
}

const day = 24 * 60 * 60 * 1000;
/** How long a file is kept after it was written, in milliseconds. */
const kept = 30 * day;
/** How long a start may spend on deleting old files, in milliseconds. */
const patience = 100;

/**
 * The files that Node.js keeps in a cache folder: it has one folder per version. `openapi`, next to these, cleans up
 * after itself.
 */
function* filesIn(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory() && /^v\d/.test(entry.name)) {
      const below = path.join(folder, entry.name);
      for (const file of fs.readdirSync(below)) {
        yield path.join(below, file);
      }
    }
  }
}

/**
 * Deletes files that were written more than 30 days ago, at most once a day: Node.js never deletes files of versions
 * and checkouts that no longer exist. A file that is still in use is written again at the next start.
 */
function deleteOld(folder) {
  const now = Date.now();
  const marker = path.join(folder, 'cleaned');
  try {
    if (now - (fs.statSync(marker, { throwIfNoEntry: false })?.mtimeMs ?? 0) < day) {
      return;
    }
    fs.closeSync(fs.openSync(marker, 'a', 0o600));
    fs.utimesSync(marker, now / 1000, now / 1000);
    for (const file of filesIn(folder)) {
      if (now - fs.statSync(file).mtimeMs > kept) {
        fs.unlinkSync(file);
      }
      if (Date.now() - now > patience) {
        return;
      }
    }
  } catch {
    // Not writable, or another process is cleaning up: it is tried again the next day.
  }
}

/**
 * Makes Node.js cache the compiled code of this program and its threads, since compiling takes half of the start-up
 * time. The cache is in the user's own folder, not in the temporary one, where others could plant code.
 * NODE_COMPILE_CACHE names another folder and NODE_DISABLE_COMPILE_CACHE=1 disables the cache, as for every program on
 * Node.js. If nothing can be written, nothing is cached.
 */
module.exports = function keepCompiledCode(env) {
  // With NODE_COMPILE_CACHE, Node.js caches by itself.
  if (env.NODE_COMPILE_CACHE !== undefined || env.NODE_DISABLE_COMPILE_CACHE) {
    return;
  }
  const cacheFolder = cacheFolderOf(env);
  if (cacheFolder === undefined) {
    return;
  }
  const folder = path.join(cacheFolder, 'extensionconfig-webhook');
  // In a folder that all users can write to (/tmp, which belongs to root), another user could have been faster.
  if (isMadeOwn(folder) && enableCompileCache(folder).status === constants.compileCacheStatus.ENABLED) {
    // For the program's threads, which only read the environment.
    env.NODE_COMPILE_CACHE = folder;
    deleteOld(folder);
  }
};
