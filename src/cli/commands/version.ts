import { formatRelease, newestKnownRelease, oldestKnownRelease } from '../../runtimehooks/index.ts';
import { defineCommand } from '../framework/command.ts';
import { outputFlag } from '../framework/flags.ts';
import { commit, version } from '../framework/version.ts';

function facts() {
  return {
    version,
    commit: commit() ?? null,
    node: process.version,
    clusterApi: { oldest: formatRelease(oldestKnownRelease), newest: formatRelease(newestKnownRelease) },
  };
}

/** Everything about this version in one line, as printed by `--version`. */
export function versionLine(): string {
  const { commit: built, node, clusterApi } = facts();
  const parts = [
    ...(built === null ? [] : [`commit ${built.slice(0, 12)}`]),
    `Node.js ${node}`,
    `Cluster API ${clusterApi.oldest} to ${clusterApi.newest}`,
  ];
  return `extensionconfig-webhook ${version} (${parts.join(', ')})`;
}

export const command = defineCommand({
  description:
    'Prints the version of the program, the commit it was built from, its Node.js version, and the Cluster API releases whose Runtime Hooks it knows.',
  flags: { output: outputFlag(['text', 'json']) },
  run({ flags: { output }, io }) {
    const text = output === 'json' ? JSON.stringify(facts(), null, 2) : versionLine();
    io.stdout.write(`${text}\n`);
  },
});
