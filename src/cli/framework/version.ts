import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../base/index.ts';

export const { version } = JSON.parse(readFileSync(new URL('package.json', packageRoot), 'utf8')) as {
  version: string;
};

/** The commit that the program was built from, or that is checked out; undefined if it is unknown. */
export function commit(): string | undefined {
  const file = new URL('commit', packageRoot);
  try {
    // Only for our own checkout: a package may be installed somewhere inside another repository.
    const text = existsSync(new URL('.git', packageRoot))
      ? execFileSync('git', ['-C', fileURLToPath(packageRoot), 'rev-parse', 'HEAD'], {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
          timeout: 2000,
        })
      : readFileSync(file, 'utf8');
    return /^[0-9a-f]{7,64}$/.exec(text.trim())?.[0];
  } catch {
    return undefined;
  }
}
