import type { Stats } from 'node:fs';
import { access, constants, type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FailureError } from '../../base/index.ts';
import type { ManifestFile } from './read-manifests.ts';

async function takeOver(handle: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  const created = await handle.stat();
  if (created.uid !== uid || created.gid !== gid) {
    await handle.chown(uid, gid).catch(() => {
      throw new FailureError(
        `belongs to user ${uid}, group ${gid}, to which this user cannot assign a new file; run as its owner, or use a copy`,
      );
    });
  }
  // After chown, which clears setuid bits; the umask may have cleared others.
  await handle.chmod(mode & 0o7777);
}

/** Replaces a file, or the target of a link, atomically: its mode and owner stay, hard links and ACLs are lost. @throws {FailureError} */
export async function replaceFile(
  { file, isLinkOut }: Pick<ManifestFile, 'file' | 'isLinkOut'>,
  content: string,
): Promise<void> {
  if (isLinkOut) {
    throw new FailureError('is a symbolic link to a file outside of its folder: name that file itself');
  }
  const real = await realpath(file);
  const stats = await stat(real);
  if (!stats.isFile()) {
    throw new FailureError('is not a regular file');
  }
  // Replacing a file does not require write permission for it, but a missing permission is respected.
  await access(real, constants.W_OK);
  const temporary = join(dirname(real), `.${basename(real)}.extensionconfig-webhook-${process.pid}.tmp`);
  const handle = await open(temporary, 'w', 0o600);
  try {
    try {
      await takeOver(handle, stats);
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
}
