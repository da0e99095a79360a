import { durationFlag } from '../../framework/duration.ts';
import { type Flags, type FlagValues, outputFlag, switchFlag, textFlag } from '../../framework/flags.ts';
import { clusterFlags } from '../cluster-flags.ts';

export const mergeFlags = {
  ...clusterFlags,
  output: outputFlag(['yaml', 'json']),
  report: textFlag('FILE', 'write what was merged, renamed and left out to a file, as JSON', {
    defaultText: 'a summary on standard error',
  }),
  'cache-dir': textFlag('FOLDER', 'where documents of servers are cached', {
    defaultText: '$XDG_CACHE_HOME/extensionconfig-webhook/openapi',
  }),
  'skip-cache': switchFlag('fetch every document and cache none'),
  timeout: durationFlag('1s', '1h', '2m', 'maximum time in total'),
} satisfies Flags;

export type MergeFlagValues = FlagValues<typeof mergeFlags>;
