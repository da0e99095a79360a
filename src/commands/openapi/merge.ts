import { addFlags, type DefineCommand, readFlags } from '../../cli/index.ts';
import { mergeFlags } from './merge-flags.ts';

/** `openapi merge [FILE|URL…]`: one document out of all documents of an API server. */
export const defineMerge: DefineCommand = (command, io, end) => {
  command
    .summary('make one OpenAPI v3 document out of those of an API server, or of files')
    .description(
      'Makes one OpenAPI v3 document out of all that an API server publishes, one for each group and version, or out of files and URLs. Components that are equal become one; of different ones with the same name all but the first are renamed, with the references to them.',
    )
    .argument(
      '[sources...]',
      'files, folders, URLs, or - for standard input; default: the API server of the kubeconfig',
    )
    .addHelpText(
      'after',
      `
A URL may be that of a document, or of the list of documents, .../openapi/v3.
Documents of OpenAPI v2 are converted. Documents of servers that did not change
since the last time come from a cache on disk; it keeps itself below 256 MiB and
forgets what was not used for 30 days.

Exit code: 0 all was merged, 1 something is missing or in conflict (the summary
says what), or a server failed, 2 wrong usage or a file that cannot be read.`,
    )
    .action(async (sources: string[]) => {
      const flags = readFlags(mergeFlags, command, io.env);
      // The Kubernetes client is large, and `openapi` alone does not need it.
      const { merge } = await import('./run-merge.ts');
      end(await merge(sources, flags, io));
    });
  addFlags(command, mergeFlags);
};
