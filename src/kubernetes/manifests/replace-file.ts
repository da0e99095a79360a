import type { Stats } from 'node:fs';
import { access, constants, type FileHandle, lstat, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Why a file was not replaced. `message` does not contain the path. */
export class ReplaceError extends Error {}

const suffix = /^\.(.+)\.extensionconfig-webhook-(\d{1,10})\.tmp$/;

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists, and belongs to another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Removes leftovers of killed runs from a folder: files with our prefix whose process no longer exists. */
async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = Number(suffix.exec(name)?.[2]);
    if (pid > 0 && pid !== process.pid && !isRunning(pid)) {
      const path = join(folder, name);
      const stats = await lstat(path).catch(() => undefined);
      if (stats?.isFile()) {
        await rm(path, { force: true });
      }
    }
  }
}

/** The result; undefined if there is no such file. */
async function ifThere<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}

/** Gives a new file the owner, the group and the mode of the one that it replaces. */
async function takeOver(handle: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  const created = await handle.stat();
  if (created.uid !== uid || created.gid !== gid) {
    await handle.chown(uid, gid).catch(() => {
      throw new ReplaceError(
        `belongs to user ${uid}, group ${gid}, to which this user cannot assign a new file; run as its owner, or use a copy`,
      );
    });
  }
  // After chown, which clears setuid bits; the umask may have cleared others.
  await handle.chmod(mode & 0o7777);
}

/**
 * Replaces or creates files one after the other, each atomically: readers see either the old content or the new one, whatever
 * happens. Mode, owner and group are preserved; a symbolic link remains, and its target is replaced. Hard links, access
 * control lists and extended attributes are lost, since no atomic operation preserves them. A temporary file is written
 * to the same folder; those of killed runs are removed.
 */
export function createReplacer(): (file: string, content: string) => Promise<void> {
  const swept = new Set<string>();
  /** @throws {ReplaceError} or the system's error; the file is then unchanged. */
  return async (file, content) => {
    const real = (await ifThere(realpath(file))) ?? file;
    const folder = dirname(real);
    const stats = await ifThere(stat(real));
    if (stats !== undefined) {
      if (!stats.isFile()) {
        throw new ReplaceError('is not a regular file');
      }
      // Replacing a file does not require write permission for it, but a missing permission is respected.
      await access(real, constants.W_OK);
    }
    if (!swept.has(folder)) {
      swept.add(folder);
      await sweep(folder);
    }
    const temporary = join(folder, `.${basename(real)}.extensionconfig-webhook-${process.pid}.tmp`);
    const handle = await open(temporary, 'wx', stats === undefined ? 0o666 : 0o600);
    try {
      try {
        if (stats !== undefined) {
          await takeOver(handle, stats);
        }
        await handle.writeFile(content);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, real);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  };
}
