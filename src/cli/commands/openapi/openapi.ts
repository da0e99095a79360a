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
    const [own, newest] = [release, newestKnownRelease].map(formatRelease);
    if (own !== newest) {
      const later = new Set(
        hooks.flatMap(({ changes }) =>
          changes
            .filter((change) => compareReleases(change.release, release) > 0)
            .map((change) => `since ${formatRelease(change.release)} ${change.text}`),
        ),
      );
      const more = later.size === 0 ? '' : ` The descriptions include later changes: ${[...later].join('; ')}.`;
      document.info.description += ` The hooks and the fields of their messages are those of ${own}, the objects within them those of ${newest}.${more}`;
    }
    io.stdout.write(flags.output === 'json' ? jsonText(document) : readableYaml(document, 0));
  },
});
