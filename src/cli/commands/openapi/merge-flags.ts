import { durationFlag } from '../../framework/duration.ts';
import { type Flags, type FlagValues, outputFlag, switchFlag, textFlag } from '../../framework/flags.ts';
import { clusterFlags } from '../cluster-flags.ts';

/** The flags of `openapi merge`. */
export const mergeFlags = {
  ...clusterFlags,
  output: outputFlag(['yaml', 'json'], { summary: 'yaml or json', default: 'yaml' }),
  report: textFlag('FILE', {
    summary: 'write what was merged, renamed and left out to a file, as JSON',
    default: undefined,
    defaultText: 'a summary on standard error',
  }),
  'cache-dir': textFlag('FOLDER', {
    summary: 'where documents of servers are cached',
    default: undefined,
    defaultText: '$XDG_CACHE_HOME/extensionconfig-webhook/openapi',
  }),
  'skip-cache': switchFlag('fetch every document and cache none'),
  timeout: durationFlag('1s', '1h', { summary: 'maximum time in total', default: '2m' }),
} satisfies Flags;

/** The values of the flags of `openapi merge`. */
export type MergeFlagValues = FlagValues<typeof mergeFlags>;
