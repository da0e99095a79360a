import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it, as far as they are missing. Not by Node.js's `recursive`, which tries forever where the system
 * makes no folders: below /proc.
 *
 * @param mode of the folders that are made.
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

/** Makes a folder in one that is there; another may be first. */
function makeOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw error;
    }
  }
}
