import { count, printable, printableJson, shortList } from '../../../base/index.ts';
import {
  createPlanCaller,
  type LiveState,
  planPage,
  planText,
  problemText,
  readLive,
  recordedCalls,
  recordedObjects,
  recordingCalls,
  withoutSecretCauses,
  withUnread,
  withWaits,
} from '../../../checks/plan/index.ts';
import { installedRelease } from '../../../checks/preflight/index.ts';
import type { ExtensionConfig } from '../../../extensionconfig/index.ts';
import {
  connect,
  type KubernetesClient,
  loadKubeConfig,
  shortRetries,
  withRemedy,
} from '../../../kubernetes/client/index.ts';
import {
  dns1123LabelProblems,
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  textAt,
} from '../../../kubernetes/index.ts';
import { newestKnownRelease } from '../../../runtimehooks/index.ts';
import {
  coreGroup,
  extensionOfHandler,
  groupOf,
  type HookCall,
  layered,
  nameOf,
  namespacedName,
  namespaceOf,
  Objects,
  type Plan,
  type Problem,
  plan,
} from '../../../topology/index.ts';
import { defineCommand } from '../../framework/command.ts';
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
import { inFormat } from '../../framework/layout.ts';
import { exitCode, FailureError, type Io, paintFor, UsageError } from '../../framework/program.ts';
import { startProgress } from '../../framework/progress.ts';
import { releaseFlag, versionProblems } from '../catalog-flags.ts';
import { clusterFlags, orNoCluster } from '../cluster-flags.ts';
import { crdsFlag, readCrds } from '../manifest-objects.ts';
import { reachServices } from '../port-forward.ts';
import { resolveFlag, resolveOf } from '../resolve-flag.ts';
import { extensionsIn, type Input, readFiles } from './files.ts';
import { objectWriter, readRecording, writeRecording } from './folders.ts';

const failures = ['replace', 'change', 'unknown'] as const;

const planFlags = {
  filename: listFlag(
    'PATH',
    'file or folder with the manifests as they will be, or - for standard input; may be repeated',
    {
      short: 'f',
    },
  ),
  from: listFlag(
    'PATH',
    'file or folder with the manifests as they are, and objects that exist (kubectl get -o yaml); may be repeated',
    { defaultText: 'the same as -f or, if nothing else changes them, the cluster' },
  ),
  crds: crdsFlag,
  'set-version': textFlag('VERSION', 'Kubernetes version to give the Clusters', { problemsOf: versionProblems }),
  'set-variable': {
    placeholder: 'NAME=JSON',
    summary: 'value to give a variable of the Clusters; may be repeated',
    default: [],
    repeatable: true,
    parse: (text) => {
      const [name, value] = [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)];
      if (!text.includes('=') || name === '') {
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
  'cluster-api-version': releaseFlag('release of Cluster API: v1.12, v1.13, v1.14 or main', {
    default: undefined,
    defaultText: 'the newest known',
  }),
  selector: textFlag('SELECTOR', 'of the cluster, plan only Clusters with these labels', {
    short: 'l',
    defaultText: 'all',
  }),
  extension: {
    placeholder: 'NAME=URL',
    summary: 'call this release of an extension for the state after the change; may be repeated',
    default: [],
    repeatable: true,
    parse: (text) => {
      const [name, url] = [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)];
      if (dns1123LabelProblems(name).length > 0 || !URL.canParse(url) || !url.startsWith('https://')) {
        throw new FlagError('it must be of the form my-extension=https://localhost:9443');
      }
      return [{ name, url }];
    },
  } satisfies Flag<readonly { name: string; url: string }[]>,
  record: textFlag('DIR', 'write what users wrote and what the extensions answer to this new folder, for --recorded', {
    defaultText: 'none',
  }),
  recorded: textFlag('DIR', 'take the state before from a folder that --record wrote', { defaultText: 'none' }),
  'dry-run': choiceFlag(
    'MODE',
    ['server', 'none'],
    'of the cluster, whether it defaults and checks templates and control planes in a dry run, where you may write them',
  ),
  resolve: resolveFlag,
  'no-port-forward': switchFlag('do not start "kubectl port-forward" for Services that have no address here'),
  ...clusterFlags,
  'fail-on': {
    placeholder: 'WHAT',
    summary: 'exit with 1 if Machines are replaced (replace), if anything changes (change) or is not known (unknown)',
    default: [],
    defaultText: 'none',
    repeatable: true,
    parse: (text) =>
      text.split(',').map((word) => {
        const found = failures.find((one) => one === word);
        if (found === undefined) {
          throw new FlagError(`it must be one of ${failures.join(', ')}`);
        }
        return found;
      }),
  } satisfies Flag<readonly (typeof failures)[number][]>,
  write: textFlag(
    'DIR',
    'write the objects that Cluster API would create or change, before and after, to this new folder',
    {
      defaultText: 'none',
    },
  ),
  output: outputFlag(['text', 'json', 'html'], 'text, one JSON document, or a page'),
} satisfies Flags;

const isCluster = (object: JsonObject): boolean => object.kind === 'Cluster' && groupOf(object) === coreGroup;

/** The Cluster with a version and values of variables; itself if it has no topology. */
function edited(cluster: JsonObject, version: string | undefined, variables: ReadonlyMap<string, Json>): JsonObject {
  const spec = objectAt(cluster, 'spec');
  if (!isJsonObject(spec.topology)) {
    return cluster;
  }
  const kept = objectsAt(spec.topology, 'variables').filter((variable) => !variables.has(textAt(variable, 'name')));
  const topology = {
    ...spec.topology,
    ...(version !== undefined && { version }),
    ...(variables.size > 0 && { variables: [...kept, ...[...variables].map(([name, value]) => ({ name, value }))] }),
  };
  return { ...cluster, spec: { ...spec, topology } };
}

/** Names of Clusters with the names of their classes. */
function classesOf(objects: readonly JsonObject[]): Map<string, string> {
  return new Map(
    objects.filter(isCluster).map((cluster) => {
      const topology = objectAt(cluster, 'spec', 'topology');
      return [namespacedName(cluster), textAt(topology, 'classRef', 'name') || textAt(topology, 'class')];
    }),
  );
}

function failed(result: Plan, conditions: readonly (typeof failures)[number][]): boolean {
  const groups = result.clusters.flatMap((cluster) => cluster.groups);
  return conditions.some((condition) =>
    groups.some(({ verdict, machines }) =>
      condition === 'replace'
        ? machines.replaced > 0 || verdict === 'replaced' || verdict === 'onDelete'
        : condition === 'change'
          ? verdict !== 'unchanged'
          : verdict === 'unknown',
    ),
  );
}

/** Objects in which extensions are called at other addresses. */
function withExtensions(
  objects: readonly JsonObject[],
  extensions: readonly { name: string; url: string }[],
): readonly JsonObject[] {
  const isOf = (name: string) => (object: JsonObject) => object.kind === 'ExtensionConfig' && nameOf(object) === name;
  return extensions.reduce<readonly JsonObject[]>((all, { name, url }) => {
    const known = all.find(isOf(name));
    const caBundle = textAt(known, 'spec', 'clientConfig', 'caBundle');
    const object: JsonObject = {
      ...(known ?? { apiVersion: 'runtime.cluster.x-k8s.io/v1beta2', kind: 'ExtensionConfig', metadata: { name } }),
      spec: { ...objectAt(known, 'spec'), clientConfig: { url, ...(caBundle !== '' && { caBundle }) } },
    };
    return [...all.filter((one) => one !== known), object];
  }, objects);
}

/** The state before a change, and the objects that the change writes. */
interface States {
  before: Input;
  change: Input;
  live?: Pick<LiveState, 'unread' | 'dryRun'> & { cluster: KubernetesClient };
  answers?: ReturnType<typeof readRecording>['answers'];
}

const noFiles = (): Input => ({ objects: [], places: new Map(), problems: [] });

/** The state of the cluster that the flags name. */
async function readCluster(flags: FlagValues<typeof planFlags>, io: Io, onPage: (objects: number) => void) {
  const hint = '; or pass the manifests before the change with --from';
  const config = await orNoCluster(loadKubeConfig(flags, io.env), '', hint);
  const cluster = connect(config, io.signal, shortRetries);
  try {
    const state = await readLive(cluster, { namespace: flags.namespace, selector: flags.selector, onPage });
    return { cluster, state, release: await installedRelease(cluster) };
  } catch (error) {
    io.signal.throwIfAborted();
    throw new FailureError(withRemedy(error as Error));
  }
}

/** `plan`: which Machines a change replaces, and why. */
export const command = defineCommand({
  description:
    'Says which Machines a change will replace, and why: compares two states of the same manifests (Clusters, ClusterClasses, templates, CustomResourceDefinitions of providers, and objects that exist, if there) as Cluster API would. Without --from, the state before is that of the cluster, which is only read; without -f as well, it says what is under way. Extensions whose ExtensionConfigs are in a state are called.',
  flags: planFlags,
  help: `
-f lies on top of --from, or of the cluster, as "kubectl apply" would: what it
does not name stays. What Cluster API makes itself (control planes,
MachineDeployments, Machines, copied templates) is not read from -f; where it
is missing, the state before is computed. With --set-version or
--set-variable, -f alone is the state before. Values that look like secrets
are not shown.

Exit code: 0 the plan was made, 1 --fail-on applies or part of the objects or
of the answers of extensions could not be used, 2 usage error.`,
  async run({ flags, io, isGiven }) {
    const variables = new Map(flags['set-variable'].map(({ name, value }) => [name, value]));
    const version = flags['set-version'];
    const isEdited = version !== undefined || variables.size > 0;
    const isOfCluster = isGiven('kubeconfig') || isGiven('context');
    if (flags.recorded !== undefined && flags.from.length > 0) {
      throw new UsageError('--recorded and --from both give the state before: leave one out');
    }
    let [planned, calls, total, objects] = [0, 0, 0, 0];
    using progress = startProgress(io.stderr, () =>
      total === 0
        ? `reading${objects > 0 ? `, ${count(objects, 'object')}` : ''}`
        : `${planned} of ${count(total, 'Cluster')} planned${calls > 0 ? `, ${count(calls, 'call')}` : ''}`,
    );
    let release = flags['cluster-api-version'];
    async function readStates(): Promise<States> {
      const change = flags.filename.length > 0 ? await readFiles('-f', flags.filename, io) : noFiles();
      if (flags.recorded !== undefined) {
        const { objects: recorded, answers } = readRecording(flags.recorded);
        return { before: { ...noFiles(), objects: recorded }, change, answers };
      }
      if (flags.from.length > 0) {
        return { before: await readFiles('--from', flags.from, io), change };
      }
      if (isEdited && flags.filename.length > 0 && !isOfCluster) {
        return { before: change, change: noFiles() };
      }
      const {
        cluster,
        state,
        release: installed,
      } = await readCluster(flags, io, (read) => {
        objects = read;
      });
      release ??= installed;
      const versions = [...new Set(state.versions.values())].toSorted((a, b) => Number(a) - Number(b));
      if (versions.length > 1) {
        io.stderr.write(
          `plan: objects changed while they were read, at resourceVersions ${printable(versions[0] ?? '')} to ${printable(versions.at(-1) ?? '')}\n`,
        );
      }
      const before = { objects: state.objects, places: new Map(), problems: state.unread.map(({ why }) => why) };
      return { before, change, live: { ...state, cluster } };
    }
    const { before: from, change, live, answers } = await readStates();
    from.objects = layered(from.objects, await readCrds(flags.crds, io));
    const isNamed = (cluster: JsonObject) =>
      (flags.cluster.length === 0 || flags.cluster.includes(namespacedName(cluster))) &&
      (flags.namespace === undefined || flags.namespace === namespaceOf(cluster));
    const withEdits = (objects: readonly JsonObject[]) =>
      objects.map((object) =>
        isEdited && isCluster(object) && isNamed(object) ? edited(object, version, variables) : object,
      );
    // A record is of one state: with the change, if there is one.
    const before =
      flags.record === undefined ? from.objects : recordedObjects(withEdits(layered(from.objects, change.objects)));
    const after = withEdits(withExtensions(layered(before, change.objects), flags.extension));
    const clusters = new Map(
      [...before, ...after].filter(isCluster).map((cluster) => [namespacedName(cluster), cluster]),
    );
    const missing = flags.cluster.find((name) => !clusters.has(name));
    if (missing !== undefined) {
      throw new UsageError(
        `--cluster: there is no Cluster ${printable(missing)}${live === undefined ? ' in the files' : ''}; there ${clusters.size === 0 ? 'is none' : `is ${shortList([...clusters.keys()].map(printable), 5)}`}`,
      );
    }
    const named = new Set([...clusters].filter(([, cluster]) => isNamed(cluster)).map(([name]) => name));
    total = named.size;
    release ??= newestKnownRelease;
    const replaced = new Set([...flags.extension.map(({ name }) => name), ...change.objects.map(nameOf)]);
    const isCalled = ({ metadata }: ExtensionConfig) => answers === undefined || replaced.has(metadata.name ?? '');
    const extensions = {
      before: await extensionsIn(before, from, isCalled),
      after: await extensionsIn(after, change, isCalled),
    };
    const configs = [...extensions.before.configs, ...extensions.after.configs];
    using reached =
      live === undefined || flags['no-port-forward']
        ? { resolve: resolveOf(flags.resolve), [Symbol.dispose]() {} }
        : await reachServices(configs, resolveOf(flags.resolve), live.cluster, flags, io);
    await using caller = await createPlanCaller({
      ...extensions,
      release,
      resolve: reached.resolve,
      signal: io.signal,
      onCall: () => calls++,
    });
    const isNew = ({ handler }: HookCall) => handler === '' || replaced.has(extensionOfHandler(handler));
    const recording = recordingCalls(
      answers === undefined
        ? caller.call
        : recordedCalls(answers, (call) => (isNew(call) ? caller.call(call) : undefined)),
    );
    const made = await plan(new Objects(before), new Objects(after), {
      clusterApiVersion: release,
      now: new Date(),
      call: recording.call,
      updatesInPlace: caller.updatesInPlace,
      ...(live !== undefined && flags['dry-run'] === 'server' && { dryRun: live.dryRun }),
      isPlanned: (namespace, name) => named.has(`${namespace}/${name}`),
      onCluster: () => planned++,
      ...(flags.write !== undefined && { onObjects: objectWriter(flags.write) }),
      signal: io.signal,
    });
    progress.clear();
    if (flags.record !== undefined) {
      writeRecording(flags.record, { objects: before, answers: recording.answers });
      io.stderr.write(`plan: ${count(recording.answers.length, 'answer')} recorded in ${printable(flags.record)}\n`);
    }
    const isChange = change.objects.length > 0 || isEdited || flags.extension.length > 0;
    const known = live === undefined ? made : withUnread(made, live.unread);
    const result = live === undefined || isChange ? known : withWaits(known, before);
    const shown = withoutSecretCauses(result);
    const classOf = classesOf(after);
    io.stdout.write(
      inFormat(flags.output, {
        text: () => planText(shown, classOf, paintFor(io)),
        json: () => `${printableJson({ clusters: shown.clusters, sum: shown.sum }, 2)}\n`,
        html: () => planPage(shown, classOf),
      }),
    );
    const left = clusters.size - named.size;
    if (left > 0) {
      const why = [
        ...(flags.cluster.length > 0 ? ['--cluster names others'] : []),
        ...(flags.namespace === undefined ? [] : [`-n names the namespace ${printable(flags.namespace)}`]),
      ];
      io.stderr.write(`plan: ${count(left, 'Cluster')} left out: ${why.join(', ')}\n`);
    }
    const placeOf = ({ object = '' }: Problem) => change.places.get(object) ?? from.places.get(object);
    const faults = result.clusters
      .flatMap(({ problems, groups }) => [...problems, ...groups.flatMap(({ problems: own = [] }) => own)])
      .filter(({ object }) => object !== undefined)
      .map((problem) => {
        const place = placeOf(problem);
        return `${place === undefined ? '' : `${place()}: `}${problemText(problem)}`;
      });
    const problems = new Set([...from.problems, ...change.problems, ...faults]);
    for (const problem of problems) {
      io.stderr.write(`plan: ${problem}\n`);
    }
    return problems.size > 0 || failed(result, flags['fail-on']) ? exitCode.findings : exitCode.ok;
  },
});
