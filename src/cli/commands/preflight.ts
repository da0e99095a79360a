import { eachOf } from '../../base/index.ts';
import { examineExtension, installedRelease, preflightAsText, reportOf } from '../../checks/preflight/index.ts';
import { askExtension, createClient } from '../../runtimehooks/client/index.ts';
import { formatRelease, newestKnownRelease, type Release } from '../../runtimehooks/index.ts';
import { defineCommand } from '../framework/command.ts';
import { type Flags, outputFlag } from '../framework/flags.ts';
import { inFormat, jsonText } from '../framework/layout.ts';
import { exitCode, FailureError, paintFor, UsageError } from '../framework/program.ts';
import { startProgress } from '../framework/progress.ts';
import { catalogFlags, releaseFlag } from './catalog-flags.ts';
import { callsAtOnce, type Extensions, extensionFlags, readExtensions, untilEnd } from './extensions.ts';

const targetName = 'target-cluster-api-version';

const preflightFlags = {
  [targetName]: {
    ...catalogFlags[targetName],
    summary: 'Cluster API release to upgrade to',
    default: undefined as Release | undefined,
    defaultText: 'none; required',
  },
  'current-cluster-api-version': releaseFlag('Cluster API release that is running now', {
    default: undefined,
    defaultText: 'that of the cluster',
  }),
  ...extensionFlags,
  output: outputFlag(['text', 'json'], 'report format'),
} satisfies Flags;

/** The running release: given, or read from the cluster; if it is unknown, changes of calls are those since the one before the target. */
async function currentRelease(release: Release | undefined, to: Release, { cluster }: Extensions) {
  const from = release ?? (cluster && (await installedRelease(cluster)));
  return { from: from ?? { ...to, minor: Math.max(0, to.minor - 1) }, isFromKnown: from !== undefined };
}

/** `preflight --target-cluster-api-version VERSION`: what an upgrade of Cluster API means for extensions. */
export const command = defineCommand({
  description:
    'Checks before an upgrade of Cluster API which extensions are in the way: extensions that the release would refuse as a whole, extensions that do not answer now (an upgrade restarts the managers, and a manager that cannot discover every extension does not start), CAs and certificates that expire, and changes in calls. Nothing is written.',
  args: [['[names...]', 'ExtensionConfigs (default: all)']],
  flags: preflightFlags,
  help: `
Extensions are asked for their handlers, as Cluster API does every ten minutes;
no other hook is called. From outside the cluster, Services are reached
through "kubectl port-forward"; manifests/preflight has a Job that runs inside.

Exit code: 0 safe (warnings are fine), 1 not safe or unknown, 2 usage error or
a file that cannot be read.`,
  async run({ flags, io }, names: string[]) {
    const to = flags[targetName];
    if (to === undefined) {
      throw new UsageError(
        `preflight: name the release to upgrade to, for example --${targetName} ${formatRelease(newestKnownRelease)}`,
      );
    }
    using extensions = await readExtensions(flags, names, io);
    const { configs, resolve, originals } = extensions;
    await using client = untilEnd(createClient({ resolve, release: to }));
    let count = 0;
    using progress = startProgress(io.stderr, () => `${count} of ${configs.length} ExtensionConfigs asked`);
    const current = await currentRelease(flags['current-cluster-api-version'], to, extensions).catch((error: Error) => {
      io.signal.throwIfAborted();
      throw new FailureError(error.message);
    });
    const verdicts = await eachOf(configs, callsAtOnce, async (config) => {
      const answer = await askExtension(config, { client, resolve, signal: io.signal });
      io.signal.throwIfAborted();
      count++;
      const isFromCluster = extensions.cluster !== undefined;
      const facts = { config, original: originals.get(config) ?? {}, isFromCluster, answer };
      return examineExtension(facts, { ...current, to, now: new Date(), resolve });
    });
    const report = reportOf({ ...current, to }, verdicts);
    progress.clear();
    io.stdout.write(
      inFormat(flags.output, { text: () => preflightAsText(report, paintFor(io)), json: () => jsonText(report) }),
    );
    if (configs.length === 0) {
      io.stderr.write(`preflight: there are no ExtensionConfigs, so nothing is in the way of ${formatRelease(to)}\n`);
    }
    return report.verdict === 'safe' ? exitCode.ok : exitCode.findings;
  },
});
