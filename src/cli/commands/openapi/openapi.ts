import { readableYaml } from '../../../base/yaml/index.ts';
import {
  clusterApiHooks,
  compareReleases,
  formatRelease,
  hookIn,
  newestKnownRelease,
  phaseIn,
} from '../../../runtimehooks/index.ts';
import { openApiDocument, openApiPage } from '../../../runtimehooks/messages/index.ts';
import { defineCommand } from '../../framework/command.ts';
import { outputFlag } from '../../framework/flags.ts';
import { inFormat, jsonText } from '../../framework/layout.ts';
import { catalogFlags } from '../catalog-flags.ts';
import { clusterFlags } from '../cluster-flags.ts';

const merge = defineCommand({
  description:
    'Merges all OpenAPI v3 documents that an API server publishes (one for each group and version), or files, into one. Equal components are merged; if components with the same name differ, all but the first are renamed, along with the references to them.',
  args: [['[sources...]', 'files, folders, or - for standard input; default: the API server of the kubeconfig']],
  flags: {
    ...clusterFlags,
    output: outputFlag(['yaml', 'json']),
  },
  help: `
OpenAPI v2 documents are converted.

Exit code: 0 everything was merged, 1 something is missing or in conflict (the
summary says what) or a server failed, 2 usage error or a file that cannot be
read.`,
  async run({ flags, io }, sources: string[]) {
    // The Kubernetes client is large, and `openapi` alone does not need it.
    const { mergeSources } = await import('./merge.ts');
    return mergeSources(sources, flags, io);
  },
});

export const command = defineCommand({
  description: 'Prints the OpenAPI document of the Runtime Hooks of a Cluster API release.',
  flags: {
    output: outputFlag(['yaml', 'json', 'html'], 'output format; html is a self-contained page for a browser'),
    'cluster-api-version': catalogFlags['cluster-api-version'],
  },
  commands: {
    merge: { summary: 'merge the OpenAPI v3 documents of an API server, or files, into one', ...merge },
  },
  run({ flags, io }) {
    const release = flags['cluster-api-version'];
    const hooks = clusterApiHooks.filter((hook) => ['supported', 'deprecated'].includes(phaseIn(hook, release)));
    const inRelease = hooks.map((hook) => hookIn(hook, release));
    const document = openApiDocument(inRelease, { version: formatRelease(release), release });
    if (compareReleases(release, newestKnownRelease) !== 0) {
      document.info.description += ` The objects within messages, and notes on changes, are those of ${formatRelease(newestKnownRelease)}.`;
    }
    io.stdout.write(
      inFormat(flags.output, {
        yaml: () => readableYaml(document, 0),
        json: () => jsonText(document),
        html: () => openApiPage(document),
      }),
    );
  },
});
