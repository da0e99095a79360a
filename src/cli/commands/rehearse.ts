import { newFolder, type Paint, printable, withRemedy } from '../../base/index.ts';
import { createHiding, type Hiding } from '../../checks/plan/index.ts';
import {
  createTimeline,
  type Entry,
  jsonLine,
  oldestRelease,
  type RehearsalInput,
  readInput,
  rehearse,
} from '../../checks/rehearsal/index.ts';
import { namespacedName } from '../../kubernetes/index.ts';
import { schemasOf } from '../../kubernetes/schema/index.ts';
import { compareReleases, formatRelease, newestKnownRelease, type Release } from '../../runtimehooks/index.ts';
import { inPlaceFeatureGate } from '../../webhook/index.ts';
import { defineCommand } from '../framework/command.ts';
import { listFlag, outputFlag, switchFlag, textFlag } from '../framework/flags.ts';
import { inFormat } from '../framework/layout.ts';
import { exitCode, FailureError, type Io, paintFor, UsageError } from '../framework/program.ts';
import { startProgress } from '../framework/progress.ts';
import { releaseFlag, versionProblems } from './catalog-flags.ts';
import { extensionFlags, readExtensions, unreachableHint } from './extensions.ts';
import { featureGatesFlag } from './feature-gates-flag.ts';
import { crdsFlag, manifestObjects, readCrds } from './manifest-objects.ts';

const simulatedProblem = (release: Release): string | undefined =>
  compareReleases(release, oldestRelease) >= 0 && compareReleases(release, newestKnownRelease) <= 0
    ? undefined
    : `it must be a release from ${formatRelease(oldestRelease)} to ${formatRelease(newestKnownRelease)}, or main`;

/** The file of a request: `team_blue-0007-GeneratePatches.json` is that of the seventh call for the Cluster team/blue. */
function requestFile({ cluster, number, hook }: Extract<Entry, { type: 'call' }>): string {
  const name = cluster.replace(' ', '_').replace('/', '_').slice(0, 150);
  return `${name}-${String(number).padStart(4, '0')}-${hook}.json`;
}

/** Prints the timeline of each Cluster, of several when they end; what is about extensions and classes, at once. */
function textPrinter(paint: Paint, clusters: readonly string[]): (entry: Entry) => string {
  const isCluster = new Set(clusters);
  const running = new Map<string, { texts: string[]; textOf(entry: Entry): string }>();
  return (entry) => {
    const name = printable(entry.cluster);
    const timeline = running.get(entry.cluster) ?? {
      texts: [`${name === '' ? 'extensions' : name}\n`],
      textOf: createTimeline(paint),
    };
    running.set(entry.cluster, timeline);
    timeline.texts.push(timeline.textOf(entry));
    const isShown = clusters.length === 1 || !isCluster.has(entry.cluster) || entry.type === 'end';
    return isShown ? timeline.texts.splice(0).join('') : '';
  };
}

/** One of these is in the files of --cluster-files. */
const wanted: readonly unknown[] = ['Cluster', 'ClusterClass', 'Namespace'];

async function readFiles(
  paths: readonly string[],
  target: string | undefined,
  io: Io,
): Promise<RehearsalInput & { hiding: Hiding }> {
  const objects = await manifestObjects(paths, io);
  // A wrong file must not silently result in the sample.
  if (paths.length > 0 && !objects.some(({ object }) => wanted.includes(object.kind))) {
    throw new UsageError(`--cluster-files: there is no ${wanted[0]} in ${printable(paths.join(', ').slice(0, 500))}`);
  }
  const hiding = createHiding(
    objects.map(({ object }) => object),
    { showsContent: true },
  );
  return { ...readInput(objects, target), hiding };
}

export const command = defineCommand({
  description:
    'Simulates the lifecycle of a Cluster with extensions: calls the hooks in the order of Cluster API, retries calls that block or fail, and shows what a user would see. Time is simulated, and nothing is written to a cluster. The calls are real: the extensions do their work, for Clusters that do not exist.',
  args: [['[names...]', 'ExtensionConfigs (default: all)']],
  flags: {
    ...extensionFlags,
    'cluster-files': listFlag(
      'PATH',
      'file or folder with Clusters, their ClusterClasses and templates, and Namespaces for their labels; may be repeated',
      { defaultText: 'a sample Cluster' },
    ),
    crds: crdsFlag,
    'set-version': listFlag(
      'VERSION',
      'Kubernetes version to upgrade the Clusters to; repeat it for several upgrades in a row',
      { problemsOf: versionProblems },
    ),
    delete: switchFlag('delete the Clusters at the end'),
    'feature-gates': featureGatesFlag,
    'cluster-api-version': releaseFlag(
      'release of Cluster API to simulate: v1.12, v1.13, v1.14 or main',
      { default: newestKnownRelease, defaultText: formatRelease(newestKnownRelease) },
      simulatedProblem,
    ),
    write: textFlag(
      'DIR',
      'write each request to a file in this new folder, for "conformance --request", "call --request" and tests',
      { defaultText: 'none' },
    ),
    output: outputFlag(['text', 'json'], 'a timeline as text, or a line of JSON per call'),
  },
  help: `
Exit code: 0 all lifecycles completed, 1 one did not, 2 usage error or a file
that cannot be read.`,
  async run({ flags, io }, names: string[]) {
    const upgrades = flags['set-version'];
    const input = await readFiles(flags['cluster-files'], upgrades[0], io);
    const schemaOf = schemasOf(await readCrds(flags.crds, io));
    using extensions = await readExtensions(flags, names, io);
    if (extensions.configs.length === 0) {
      throw new UsageError('there are no ExtensionConfigs: pass files with -f');
    }
    const clusters = input.subjects.length;
    const folder = flags.write;
    const write = folder === undefined ? undefined : newFolder(folder, { flag: '--write: ', isPrivate: true });
    let [calls, ended] = [0, 0];
    let hint: string | undefined;
    using progress = startProgress(io.stderr, () => `${calls} calls made, ${ended} of ${clusters} Clusters done`);
    const clusterNames = input.subjects.map(({ cluster }) => namespacedName(cluster));
    const textOf = inFormat<typeof flags.output, (entry: Entry) => string>(flags.output, {
      text: () => textPrinter(paintFor(io), clusterNames),
      json: () => (entry) => jsonLine(entry) ?? '',
    });
    const { complete } = await rehearse({
      configs: extensions.configs,
      subjects: input.subjects,
      scenario: {
        upgrades,
        isDeleted: flags.delete,
        updatesInPlace: flags['feature-gates'][inPlaceFeatureGate] === true,
      },
      // An upgrade over three minors with every hook makes some sixty calls.
      limits: { maxCalls: 1000, maxFailures: 10 },
      release: flags['cluster-api-version'],
      schemaOf,
      resolve: extensions.resolve,
      namespaceLabels: async (namespace) => ({
        'kubernetes.io/metadata.name': namespace,
        ...(input.namespaces.get(namespace) ??
          (await extensions.namespaceLabels?.(namespace).catch((error: Error) => {
            io.signal.throwIfAborted();
            throw new FailureError(
              `the labels of Namespace ${printable(namespace)} cannot be read: ${withRemedy(error)}; or pass the Namespace in a file of --cluster-files`,
            );
          }))),
      }),
      onRequest: write && ((call, request) => write(`${JSON.stringify(request, null, 2)}\n`, requestFile(call))),
      onEntry(entry) {
        calls += entry.type === 'call' ? 1 : 0;
        if (entry.type === 'end') {
          ended++;
          hint ??= unreachableHint(entry.reason, extensions);
        }
        const text = textOf(input.hiding.shown(entry));
        if (text !== '') {
          progress.clear();
          io.stdout.write(text);
        }
      },
      signal: io.signal,
    });
    if (hint !== undefined) {
      io.stderr.write(`rehearse: ${hint}\n`);
    }
    if (complete < clusters) {
      return exitCode.findings;
    }
    if (flags.output === 'text' && upgrades.length === 0 && !flags.delete) {
      io.stdout.write('add --set-version VERSION and --delete for the rest of the lifecycle\n');
    }
    return exitCode.ok;
  },
});
