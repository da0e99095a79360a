import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackages, type ReleaseFacts } from './build-packages.ts';
import { packages } from './packages.ts';

/**
 * Builds the npm packages and writes their tarballs into a folder.
 *
 * @returns the names of the tarballs, in the order of `packages`.
 */
export async function writeTarballs(folder: string, release?: ReleaseFacts): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  const built = mkdtempSync(join(tmpdir(), 'packages-'));
  try {
    await buildPackages(built, release);
    return packages.map(({ name }) =>
      execFileSync('npm', ['pack', join(built, name), '--pack-destination', folder, '--loglevel=error'], {
        encoding: 'utf8',
      }).trim(),
    );
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
}
