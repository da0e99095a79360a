import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { FailureError } from '../cli/index.ts';

/**
 * Creates a file atomically, readable by its owner only; never replaces another file.
 *
 * @param what names its content in messages.
 * @param stale the text of the file that may be replaced.
 * @throws {FailureError} if it exists or cannot be written.
 */
export function publishFile(what: string, file: string, text: string, stale?: string): void {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
    if (stale !== undefined && readFileSync(file, 'utf8') === stale) {
      rmSync(file);
    }
    linkSync(temporary, file);
  } catch (error) {
    throw new FailureError(`${what} cannot be written: ${(error as Error).message}`);
  } finally {
    rmSync(temporary, { force: true });
  }
}
