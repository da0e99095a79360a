import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../base/index.ts';
import { formatRelease, newestKnownRelease, oldestKnownRelease } from '../../runtimehooks/index.ts';
import { defineCommand } from '../framework/command.ts';
import { version } from '../framework/version.ts';

/** The commit that the program was built from, or that is checked out; undefined if it is unknown. */
function commit(): string | undefined {
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

export const command = defineCommand({
  description: 'Prints the versions of the program, its commit, Node.js, and the Cluster API releases that it knows.',
  run({ io }) {
    const built = commit();
    const parts = [
      ...(built === undefined ? [] : [`commit ${built.slice(0, 12)}`]),
      `Node.js ${process.version}`,
      `Cluster API ${formatRelease(oldestKnownRelease)} to ${formatRelease(newestKnownRelease)}`,
    ];
    io.stdout.write(`extensionconfig-webhook ${version} (${parts.join(', ')})\n`);
  },
});
