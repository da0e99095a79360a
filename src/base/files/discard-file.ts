import { rmSync } from 'node:fs';

/** Removes a temporary file, if it was created at all: where it cannot be, `force` of Node.js throws an error. */
export function discardFile(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // Its name is too long, or a part of the path is a file.
  }
}
