import { dns1123LabelProblems, type Json, readLabelSelector } from '../../../kubernetes/index.ts';
import {
  choiceFlag,
  type Flag,
  FlagError,
  type Flags,
  type FlagValues,
  listFlag,
  outputFlag,
  switchFlag,
  textFlag,
} from '../../framework/flags.ts';
import { releaseFlag, versionProblems } from '../catalog-flags.ts';
import { clusterFlags } from '../cluster-flags.ts';
import { crdsFlag } from '../manifest-objects.ts';
import { resolveFlag } from '../resolve-flag.ts';

/** The verdicts that make a plan fail, each including those before it. */
export const failures = ['none', 'unknown', 'replace', 'change'] as const;

const selectorProblems = (text: string): string[] => {
  const selector = readLabelSelector(text);
  return typeof selector === 'function' ? [] : [`must be a label selector: ${selector.problem}`];
};

const pairIn = (text: string) =>
  [text.slice(0, Math.max(0, text.indexOf('='))), text.slice(text.indexOf('=') + 1)] as const;

export const planFlags = {
  filename: listFlag('PATH', 'manifests after the change: file, folder, or - for standard input; may be repeated', {
    short: 'f',
  }),
  from: listFlag(
    'PATH',
    'manifests before the change, and existing objects (kubectl get -o yaml): file or folder; may be repeated',
    { defaultText: '-f if another flag changes it, otherwise the cluster' },
  ),
  crds: crdsFlag,
  'field-manager': textFlag('NAME', 'field manager of server-side apply, for -f', {
    defaultText: 'the one that applied each object last',
  }),
  prune: switchFlag('plan the deletion of Clusters in --from that are not in -f'),
  'set-version': textFlag('VERSION', 'Kubernetes version to give the Clusters', { problemsOf: versionProblems }),
  'set-variable': {
    placeholder: 'NAME=JSON',
    summary: 'value to give a variable of the Clusters, or a part of one (controlPlane.replicas=3); may be repeated',
    default: [],
    repeatable: true,
    parse: (text) => {
      const [name, value] = pairIn(text);
      if (name === '') {
        throw new FlagError('it must be of the form auditLevel=\'"Metadata"\' or replicas=3');
      }
      try {
        return [{ name, value: JSON.parse(value) as Json }];
      } catch {
        throw new FlagError(`the value is not JSON: write a text as ${name}='${JSON.stringify(value)}'`);
      }
    },
  } satisfies Flag<readonly { name: string; value: Json }[]>,
  cluster: listFlag('NAMESPACE/NAME', 'plan only this Cluster; may be repeated', { defaultText: 'all' }),
  namespace: textFlag('NAME', 'plan only the Clusters of this namespace', { short: 'n', defaultText: 'all' }),
  selector: textFlag('SELECTOR', 'plan only Clusters with these labels', {
    short: 'l',
    defaultText: 'all',
    problemsOf: selectorProblems,
  }),
  'cluster-api-version': releaseFlag('release of Cluster API: v1.12, v1.13, v1.14 or main', {
    default: undefined,
    defaultText: 'the installed one; of files, the newest known',
  }),
  'to-cluster-api-version': releaseFlag(
    'plan an upgrade of Cluster API to this release, which may treat the same objects differently',
    { default: undefined, defaultText: 'no upgrade' },
  ),
  extension: {
    placeholder: 'NAME=URL',
    summary: 'call this release of an extension for the state after the change; may be repeated',
    default: [],
    repeatable: true,
    parse: (text) => {
      const [name, url] = pairIn(text);
      if (dns1123LabelProblems(name).length > 0 || !URL.canParse(url) || !url.startsWith('https://')) {
        throw new FlagError('it must be of the form my-extension=https://localhost:9443');
      }
      return [{ name, url }];
    },
  } satisfies Flag<readonly { name: string; url: string }[]>,
  record: textFlag('DIR', 'save inputs and extension responses to this new folder, for --recorded', {
    defaultText: 'none',
  }),
  recorded: textFlag('DIR', 'read the state before from a folder that --record wrote', { defaultText: 'none' }),
  'dry-run': choiceFlag(
    'MODE',
    ['server', 'none'],
    'use server-side dry run for defaults and validation, if permitted',
  ),
  resolve: resolveFlag,
  ...clusterFlags,
  'fail-on': choiceFlag(
    'WHAT',
    failures,
    'exit with 1 if something is not known (unknown), also if Machines are replaced or deleted (replace), also if anything changes (change)',
  ),
  write: textFlag(
    'DIR',
    'write the objects that Cluster API would create or change, before and after, to this new folder',
    {
      defaultText: 'none',
    },
  ),
  'show-values': switchFlag(
    'show contents of files, commands, user data and kubelet arguments, without secrets, instead of only which lines differ',
  ),
  output: outputFlag(
    ['text', 'markdown', 'json', 'html'],
    'text, Markdown for a pull request, one JSON document, or a page',
  ),
} satisfies Flags;

export type PlanFlags = FlagValues<typeof planFlags>;
