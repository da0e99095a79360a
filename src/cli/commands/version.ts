import { formatRelease, newestKnownRelease, oldestKnownRelease } from '../../runtimehooks/index.ts';
import { defineCommand } from '../framework/command.ts';
import { commit, version } from '../framework/version.ts';

/** Everything about this version in one line. */
function versionLine(): string {
  const built = commit();
  const parts = [
    ...(built === undefined ? [] : [`commit ${built.slice(0, 12)}`]),
    `Node.js ${process.version}`,
    `Cluster API ${formatRelease(oldestKnownRelease)} to ${formatRelease(newestKnownRelease)}`,
  ];
  return `extensionconfig-webhook ${version} (${parts.join(', ')})`;
}

export const command = defineCommand({
  description:
    'Prints the version of the program, the commit it was built from, its Node.js version, and the Cluster API releases whose Runtime Hooks it knows.',
  run: ({ io }) => void io.stdout.write(`${versionLine()}\n`),
});
