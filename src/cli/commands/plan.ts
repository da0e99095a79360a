import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { count, folderProblem, makeFolder, printable, printableJson, shortList } from '../../base/index.ts';
import { readableYaml } from '../../base/yaml/index.ts';
import {
  createPlanCaller,
  edited,
  isCluster,
  planPage,
  planText,
  problemText,
  type StateExtensions,
  withoutSecretCauses,
  withoutSecretValues,
} from '../../checks/plan/index.ts';
import { type ExtensionConfig, isExtensionConfig, withAllDefaults } from '../../extensionconfig/index.ts';
import { type Json, type JsonObject, objectAt, textAt } from '../../kubernetes/index.ts';
import { readManifests } from '../../kubernetes/manifests/index.ts';
import { newestKnownRelease, parseRelease, parseVersion, type Release } from '../../runtimehooks/index.ts';
import {
  groupOf,
  layered,
  nameOf,
  namespaceOf,
  Objects,
  objectText,
  type Plan,
  type Problem,
  plan,
} from '../../topology/index.ts';
import { defineCommand } from '../framework/command.ts';
import { type Flag, FlagError, type Flags, listFlag, outputFlag, textFlag } from '../framework/flags.ts';
import { exitCode, FailureError, type Io, paintFor, UsageError } from '../framework/program.ts';
import { startProgress } from '../framework/progress.ts';
import { knownReleases } from './catalog-flags.ts';
import { readExtensionConfig } from './read-extension-config.ts';
import { resolveFlag, resolveOf } from './resolve-flag.ts';

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
    { defaultText: 'the same as -f' },
  ),
  'set-version': {
    ...textFlag('VERSION', 'Kubernetes version to give the Clusters'),
    parse: (text: string) => {
      if (parseVersion(text) === undefined) {
        throw new FlagError('it must be a version such as v1.35.0');
      }
      return text;
    },
  },
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
  'cluster-api-version': {
    placeholder: 'VERSION',
    summary: 'release of Cluster API: v1.12, v1.13, v1.14 or main',
    default: undefined,
    defaultText: 'the newest known',
    suggestions: [...knownReleases, 'main'],
    parse: (text) => {
      const release = text === 'main' ? newestKnownRelease : parseRelease(text);
      if (release === undefined) {
        throw new FlagError('it must be a release such as v1.13, or main');
      }
      return release;
    },
  } satisfies Flag<Release | undefined>,
  resolve: resolveFlag,
  'fail-on': {
    placeholder: 'WHAT',
    summary: 'exit with 1 if Machines are replaced (replace), if anything changes (change) or is not known (unknown)',
    default: [],
    defaultText: 'none',
    repeatable: true,
    takesList: true,
    suggestions: failures,
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

interface Input {
  objects: JsonObject[];
  /** Where the objects are, by `objectText`. */
  places: Map<string, string>;
  problems: string[];
}

/** Two objects of one kind and name in one state are an error. */
const keyOf = (object: JsonObject) => `${groupOf(object)} ${objectText(object)}`;

/** The objects of one state. What cannot be used is a problem with its line, and the rest is read. */
async function readState(flag: string, paths: readonly string[], io: Io): Promise<Input> {
  const input: Input = { objects: [], places: new Map(), problems: [] };
  const seen = new Map<string, string>();
  for await (const manifest of readManifests(paths, io.stdin as Readable, io.signal)) {
    const file = printable(manifest.file);
    if ('message' in manifest) {
      if (paths.includes(manifest.file)) {
        throw new UsageError(`${flag}: ${file}: ${manifest.message}`);
      }
      input.problems.push(`${file}${manifest.line === undefined ? '' : `:${manifest.line}`}: ${manifest.message}`);
      continue;
    }
    for await (const read of manifest.documents()) {
      const errors = 'errors' in read ? read.errors : read.document.refusals;
      input.problems.push(...errors.map(({ line, message }) => `${file}:${line}: ${printable(message)}`));
      if ('errors' in read) {
        continue;
      }
      if (read.document.objects.length === 0 && errors.length === 0 && read.document.value != null) {
        input.problems.push(`${file}:${read.part.firstLine}: not an object: write apiVersion, kind and metadata.name`);
      }
      for (const { object, placeOf } of read.document.objects) {
        const place = `${file}:${placeOf([]).line}`;
        if (textAt(object, 'apiVersion') === '' || textAt(object, 'kind') === '' || nameOf(object) === '') {
          const missing = [['apiVersion'], ['kind'], ['metadata', 'name']].find(
            (path) => textAt(object, ...path) === '',
          );
          input.problems.push(`${place}: the object has no ${missing?.join('.')}: add it`);
          continue;
        }
        const first = seen.get(keyOf(object));
        if (first !== undefined) {
          input.problems.push(`${place}: ${printable(objectText(object))} is also in ${first}: remove one of them`);
          continue;
        }
        seen.set(keyOf(object), place);
        input.places.set(objectText(object), place);
        input.objects.push(object);
      }
    }
  }
  io.signal.throwIfAborted();
  return input;
}

/** The extensions and the labels of namespaces in a state. */
async function extensionsIn(objects: readonly JsonObject[], { places, problems }: Input): Promise<StateExtensions> {
  const configs: ExtensionConfig[] = [];
  for (const object of objects.filter(isExtensionConfig)) {
    const place = places.get(objectText(object)) ?? '';
    try {
      configs.push(await readExtensionConfig(withAllDefaults(object), place));
    } catch (error) {
      if (!(error instanceof UsageError)) {
        throw error;
      }
      problems.push(error.message);
    }
  }
  const namespaces = objects.filter(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Namespace');
  const labels = namespaces.map(
    (one) => [nameOf(one), objectAt(one, 'metadata', 'labels') as Record<string, string>] as const,
  );
  return { configs, namespaceLabels: new Map(labels) };
}

const clusterName = (cluster: JsonObject) => `${namespaceOf(cluster)}/${nameOf(cluster)}`;

/** Names of Clusters with the names of their classes. */
function classesOf(objects: readonly JsonObject[]): Map<string, string> {
  return new Map(
    objects.filter(isCluster).map((cluster) => {
      const topology = objectAt(cluster, 'spec', 'topology');
      return [clusterName(cluster), textAt(topology, 'classRef', 'name') || textAt(topology, 'class')];
    }),
  );
}

/** Writes the objects of one Cluster: `before/NAMESPACE/CLUSTER/KIND-NAME.yaml`, and the same below `after`. */
function objectWriter(folder: string) {
  const attempt = (action: () => void) => {
    try {
      action();
    } catch (error) {
      throw new FailureError(`--write: ${folderProblem(folder, 'written', error)}`);
    }
  };
  attempt(() => makeFolder(folder, 0o700));
  return (cluster: string, objects: readonly Readonly<Record<'before' | 'after', JsonObject | undefined>>[]) => {
    for (const [state, object] of objects.flatMap((pair) => Object.entries(pair))) {
      if (object === undefined) {
        continue;
      }
      const name = encodeURIComponent(`${textAt(object, 'kind')}-${nameOf(object)}`).slice(0, 200);
      const file = join(folder, state, ...cluster.split('/').map(encodeURIComponent), `${name}.yaml`);
      attempt(() => {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        writeFileSync(file, readableYaml(withoutSecretValues(object) as object, -1), { mode: 0o600 });
      });
    }
  };
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

/** `plan`: which Machines a change replaces, and why. */
export const command = defineCommand({
  description:
    'Says which Machines a change will replace, and why: compares two states of the same manifests (Clusters, ClusterClasses, templates, CustomResourceDefinitions of providers, and objects that exist, if there) as Cluster API would. Nothing is written to a cluster. Extensions whose ExtensionConfigs are among the files are called.',
  flags: planFlags,
  help: `
-f lies on top of --from as "kubectl apply" would: what it does not name stays.
What Cluster API makes itself (control planes, MachineDeployments, Machines,
copied templates) is read from --from only; without it, the state before is
computed. Values that look like secrets are not shown.

Exit code: 0 the plan was made, 1 --fail-on applies or part of the files could
not be used, 2 usage error.`,
  async run({ flags, io }) {
    if (flags.filename.length === 0 && flags.from.length === 0) {
      throw new UsageError('which manifests? pass files with -f, and those before the change with --from');
    }
    const variables = new Map(flags['set-variable'].map(({ name, value }) => [name, value]));
    const edits = { version: flags['set-version'], variables };
    if (flags.from.length === 0 && edits.version === undefined && variables.size === 0) {
      throw new UsageError(
        'what changes? pass the manifests before the change with --from, or use --set-version or --set-variable',
      );
    }
    let [planned, calls, total] = [0, 0, 0];
    using progress = startProgress(io.stderr, () =>
      total === 0
        ? 'reading'
        : `${planned} of ${count(total, 'Cluster')} planned${calls > 0 ? `, ${count(calls, 'call')}` : ''}`,
    );
    const from =
      flags.from.length > 0 ? await readState('--from', flags.from, io) : await readState('-f', flags.filename, io);
    const change = flags.from.length > 0 ? await readState('-f', flags.filename, io) : from;
    const isNamed = (cluster: JsonObject) =>
      (flags.cluster.length === 0 || flags.cluster.includes(clusterName(cluster))) &&
      (flags.namespace === undefined || flags.namespace === namespaceOf(cluster));
    const before = from.objects;
    const after = (change === from ? before : layered(before, change.objects)).map((object) =>
      isCluster(object) && isNamed(object) ? edited(object, edits) : object,
    );
    const clusters = new Map([...before, ...after].filter(isCluster).map((cluster) => [clusterName(cluster), cluster]));
    const missing = flags.cluster.find((name) => !clusters.has(name));
    if (missing !== undefined) {
      throw new UsageError(
        `--cluster: there is no Cluster ${printable(missing)} in the files; there ${clusters.size === 0 ? 'is none' : `is ${shortList([...clusters.keys()].map(printable), 5)}`}`,
      );
    }
    const named = new Set([...clusters].filter(([, cluster]) => isNamed(cluster)).map(([name]) => name));
    total = named.size;
    const release = flags['cluster-api-version'] ?? newestKnownRelease;
    await using caller = await createPlanCaller({
      before: await extensionsIn(before, from),
      after: await extensionsIn(after, change),
      release,
      resolve: resolveOf(flags.resolve),
      signal: io.signal,
      onCall: () => calls++,
    });
    const result = await plan(new Objects(before), new Objects(after), {
      clusterApiVersion: release,
      now: new Date(),
      call: caller.call,
      updatesInPlace: caller.updatesInPlace,
      isPlanned: (namespace, name) => named.has(`${namespace}/${name}`),
      onCluster: () => planned++,
      ...(flags.write !== undefined && { onObjects: objectWriter(flags.write) }),
      signal: io.signal,
    });
    progress.clear();
    const shown = withoutSecretCauses(result);
    const classOf = classesOf(after);
    io.stdout.write(
      flags.output === 'json'
        ? `${printableJson({ clusters: shown.clusters, sum: shown.sum }, 2)}\n`
        : flags.output === 'html'
          ? planPage(shown, classOf)
          : planText(shown, classOf, paintFor(io)),
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
        return `${place === undefined ? '' : `${place}: `}${problemText(problem)}`;
      });
    const problems = new Set([...from.problems, ...change.problems, ...faults]);
    for (const problem of problems) {
      io.stderr.write(`plan: ${problem}\n`);
    }
    return problems.size > 0 || failed(result, flags['fail-on']) ? exitCode.findings : exitCode.ok;
  },
});
