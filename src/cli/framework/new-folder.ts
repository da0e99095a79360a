import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { folderProblem, makeFolder, pathBelow } from '../../base/index.ts';
import { FailureError } from './program.ts';

/**
 * Creates the folder that a flag names, and returns what writes a text into a file below it, named step by step, which only
 * its owner can read.
 *
 * @param isPrivate whether others must not see the folder either.
 * @throws {FailureError} for one that is not empty, and when writing fails.
 */
export function newFolder(flag: string, folder: string, isPrivate = false): (text: string, ...file: string[]) => void {
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
  return (text, ...names) =>
    attempt(() => {
      const file = pathBelow(folder, ...names);
      makeFolder(dirname(file), 0o700);
      writeFileSync(file, text, { mode: 0o600 });
    });
}
