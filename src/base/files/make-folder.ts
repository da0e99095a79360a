import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder and its missing parents. Does not use Node.js's `recursive` option, which loops forever where the
 * system cannot create folders: below /proc.
 */
export function makeFolder(folder: string, mode = 0o777): void {
  const parent = dirname(folder);
  if (!existsSync(parent)) {
    makeFolder(parent, mode);
  }
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // It is there, or another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(folder).isDirectory()) {
      throw error;
    }
  }
}
