import { readableYaml } from '../../../base/yaml/index.ts';
import {
  clusterApiHooks,
  compareReleases,
  formatRelease,
  hookIn,
  newestKnownRelease,
  phaseIn,
} from '../../../runtimehooks/index.ts';
import { openApiDocument } from '../../../runtimehooks/messages/index.ts';
import { defineCommand } from '../../framework/command.ts';
import { type Flags, outputFlag } from '../../framework/flags.ts';
import { jsonText } from '../../framework/layout.ts';
import { catalogFlags } from '../catalog-flags.ts';
import { merge } from './merge.ts';

const openApiFlags = {
  output: outputFlag(['yaml', 'json']),
  'target-cluster-api-version': catalogFlags['target-cluster-api-version'],
} satisfies Flags;

export const command = defineCommand({
  description: 'Prints the OpenAPI document of the Runtime Hooks of a Cluster API release.',
  flags: openApiFlags,
  commands: {
    merge: { summary: 'merge the OpenAPI v3 documents of an API server, or files, into one', ...merge },
  },
  run({ flags, io }) {
    const release = flags['target-cluster-api-version'];
    const hooks = clusterApiHooks.filter(({ lifecycle }) =>
      ['supported', 'deprecated'].includes(phaseIn(lifecycle, release)),
    );
    const inRelease = hooks.map((hook) => hookIn(hook, release));
    const document = openApiDocument(inRelease, { version: formatRelease(release), release });
    if (compareReleases(release, newestKnownRelease) !== 0) {
      document.info.description += ` The objects within messages, and notes on changes, are those of ${formatRelease(newestKnownRelease)}.`;
    }
    io.stdout.write(flags.output === 'json' ? jsonText(document) : readableYaml(document, 0));
  },
});
