// In JavaScript and without imports of ours: whatever is loaded before it is compiled at each start, and the first TypeScript
// brings a compiler of 40 ms with it.
'use strict';

const fs = require('node:fs');
const { constants, enableCompileCache } = require('node:module');
const os = require('node:os');
const path = require('node:path');

/** Whether a folder is the user's own: with sudo, HOME can be another user's, who could plant code there. */
function isOwn(folder) {
  try {
    return process.getuid === undefined || fs.statSync(folder).uid === process.getuid();
  } catch {
    return false;
  }
}

/**
 * Makes a folder where it is missing, and says whether it is the user's own. Node.js makes all that are missing above one, too, and
 * never ends where the system makes none (below /proc).
 */
function isMadeOwn(folder) {
  if (!fs.existsSync(folder)) {
    try {
      fs.mkdirSync(folder, { mode: 0o700 });
    } catch {
      // Another start was first, or nothing can be written.
    }
  }
  return isOwn(folder);
}

/** Where users keep such things (XDG Base Directory specification), or undefined where this one has no such place. */
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
    // A user of whom the system knows nothing but the number.
    return undefined;
  }
}

const day = 24 * 60 * 60 * 1000;
/** How long a file is kept after it was written, in milliseconds. */
const kept = 30 * day;
/** The longest that a start may wait for the deletion of old files, in milliseconds. */
const patience = 100;

/** What Node.js keeps in a cache folder: one folder for each version. `openapi` beside them cleans up for itself. */
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
 * Deletes what was written more than 30 days ago, at most once a day: Node.js never deletes what it keeps of versions and
 * checkouts that are gone. What is deleted although it is in use is written again at the next start.
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
    // Not writable, or another start is at it: the next day is soon enough.
  }
}

/**
 * Has Node.js keep what it compiles of this program and its threads, for the next start: half of a start is compiling. In a
 * folder of the user's own, not in the temporary one, where others could lay out code for us. NODE_COMPILE_CACHE names another and
 * NODE_DISABLE_COMPILE_CACHE=1 does without, as with every program on Node.js; where nothing can be written, nothing is kept.
 */
module.exports = function keepCompiledCode(env) {
  // With NODE_COMPILE_CACHE, Node.js keeps it by itself.
  if (env.NODE_COMPILE_CACHE !== undefined || env.NODE_DISABLE_COMPILE_CACHE) {
    return;
  }
  const cacheFolder = cacheFolderOf(env);
  if (cacheFolder === undefined) {
    return;
  }
  const folder = path.join(cacheFolder, 'extensionconfig-webhook');
  // In a folder where all users write (/tmp, which is root's own), another could have been first.
  if (isMadeOwn(folder) && enableCompileCache(folder).status === constants.compileCacheStatus.ENABLED) {
    // For the threads of the program, which ask the environment only.
    env.NODE_COMPILE_CACHE = folder;
    deleteOld(folder);
  }
};
