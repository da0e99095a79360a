import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { folderProblem, makeFolder } from '../../base/index.ts';
import { FailureError } from './program.ts';

/**
 * Creates the folder that a flag names, and returns what writes files into it, which only their owner can read.
 *
 * @param isPrivate whether others must not see the folder either.
 * @throws {FailureError} for one that is not empty, and when writing fails.
 */
export function newFolder(flag: string, folder: string, isPrivate = false): (file: string, text: string) => void {
  const attempt = <T>(action: () => T): T => {
    try {
      return action();
    } catch (error) {
      throw new FailureError(`${flag}: ${folderProblem(folder, 'written', error)}`);
    }
  };
  const [present] = attempt(() => {
    makeFolder(folder, 0o700);
    return readdirSync(folder);
  });
  const problem =
    present !== undefined
      ? `${folder} is not empty (${present})`
      : isPrivate && (statSync(folder).mode & 0o077) !== 0
        ? `others can read ${folder}`
        : undefined;
  if (problem !== undefined) {
    throw new FailureError(`${flag}: ${problem}: name a folder that is not there yet`);
  }
  return (file, text) =>
    attempt(() => {
      makeFolder(dirname(join(folder, file)), 0o700);
      writeFileSync(join(folder, file), text, { mode: 0o600 });
    });
}
