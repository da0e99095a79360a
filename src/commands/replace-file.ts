import { randomUUID } from 'node:crypto';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Replaces the content of a file in one step: whoever reads it, and whatever happens meanwhile, finds the old content or
 * the new one. The mode stays; a symbolic link stays one. Rejects with the system's error.
 */
export async function replaceFile(file: string, content: string): Promise<void> {
  const real = await realpath(file);
  const { mode } = await stat(real);
  const temporary = join(dirname(real), `.${basename(real)}.${randomUUID()}.tmp`);
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      // The umask may have taken bits away.
      await handle.chmod(mode);
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
