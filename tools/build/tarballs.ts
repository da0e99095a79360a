import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildPackages, type ReleaseFacts } from './build-packages.ts';
import { packages } from './packages.ts';

/**
 * Builds the npm packages, each in a folder of its name in `scratch`, which is emptied first, and writes their tarballs into
 * `folder`.
 *
 * @returns the names of the tarballs, in the order of `packages`.
 */
export async function writeTarballs(folder: string, scratch: string, release?: ReleaseFacts): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  await buildPackages(scratch, release);
  const folders = packages.map(({ name }) => join(scratch, name));
  const printed = execFileSync('npm', ['pack', ...folders, '--pack-destination', folder, '--loglevel=error'], {
    encoding: 'utf8',
  });
  return printed.trim().split('\n');
}
