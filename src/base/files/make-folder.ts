import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder and its missing parents. Does not use Node.js's `recursive` option, which loops forever where the
 * system cannot create folders: below /proc.
 *
 * @param mode of the folders that are created.
 * @throws {Error} of the system, with its code.
 */
export function makeFolder(folder: string, mode = 0o777): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const parent = dirname(folder);
    if (code === 'EEXIST' && statSync(folder).isDirectory()) {
      return;
    }
    if (code !== 'ENOENT' || parent === folder) {
      throw error;
    }
    makeFolder(parent, mode);
    makeOne(folder, mode);
  }
}

/** Creates a folder in an existing one, unless another process is faster. */
function makeOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw error;
    }
  }
}
