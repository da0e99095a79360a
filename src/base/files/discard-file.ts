import { unlinkSync } from 'node:fs';

/** Removes a temporary file, if it was created at all. */
export function discardFile(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // It was not, or cannot be: its name is too long, or a part of the path is a file.
  }
}
