import { randomUUID } from 'node:crypto';
import { linkSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { discardFile, folderProblem } from '../../base/index.ts';
import { FailureError } from '../framework/program.ts';

/** Creates a file atomically, readable by its owner only. */
export function publishFile(what: string, file: string, text: string): void {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
    linkSync(temporary, file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new FailureError(
      code === 'ENOENT'
        ? `${what} cannot be written: the folder ${dirname(file)} does not exist: create it, or name another file`
        : code === 'EEXIST'
          ? `${what} cannot be written: ${file} exists: remove it, or name another file`
          : `${what}: ${folderProblem(dirname(resolve(file)), 'written', error)}`,
    );
  } finally {
    discardFile(temporary);
  }
}
