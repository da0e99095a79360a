import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';

/** A Node.js on this machine that is too old for the program, or undefined. */
export function findOldNode(): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .find((file) => /^v(\d|1\d|2[01])\./.test(spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout ?? ''));
}
