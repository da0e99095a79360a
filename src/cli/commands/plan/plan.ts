import { count, printable } from '../../../base/index.ts';
import {
  askAboutWrites,
  createPlanCaller,
  recordedCalls,
  recordingCalls,
  withWaits,
} from '../../../checks/plan/index.ts';
import { extensionOfHandler, group as runtimeGroup } from '../../../extensionconfig/index.ts';
import { isSame, type Json, nameOf } from '../../../kubernetes/index.ts';
import { formatRelease, newestKnownRelease, type Release, v1 } from '../../../runtimehooks/index.ts';
import { type HookCall, type Plan, plan, World } from '../../../topology/index.ts';
import { defineCommand } from '../../framework/command.ts';
import { type Io, UsageError } from '../../framework/program.ts';
import { startProgress } from '../../framework/progress.ts';
import { reachServices } from '../port-forward.ts';
import { resolveIn } from '../resolve-flag.ts';
import { extensionsIn } from './files.ts';
import { planFlags } from './flags.ts';
import { objectWriter, writeRecording } from './recorded-folder.ts';
import { show } from './show.ts';
import { releasesOf, sourceOf } from './source.ts';
import { statesOf } from './states.ts';

function showProgress(io: Io) {
  const done = { objects: 0, clusters: 0, calls: 0, of: 0 };
  const line = startProgress(io.stderr, () =>
    done.of === 0
      ? `reading${done.objects > 0 ? `, ${count(done.objects, 'object')}` : ''}`
      : `${done.clusters} of ${count(done.of, 'Cluster')} planned${done.calls > 0 ? `, ${count(done.calls, 'call')}` : ''}`,
  );
  return { done, clear: () => line.clear(), [Symbol.dispose]: () => line[Symbol.dispose]() };
}

const outcomeOf = ({ clusters, sum }: Plan): Json =>
  ({
    groups: clusters.flatMap(({ cluster, groups }) =>
      groups.map(({ group, verdict, machines }) => ({ cluster, group, verdict, machines: { ...machines } })),
    ),
    sum: { ...sum },
  }) satisfies Json;

const assumedRelease = `the release of Cluster API in this cluster is not known: clusterctl's Providers, the manager's Deployment and the definitions are unreadable or do not tell it; ${formatRelease(newestKnownRelease)} is assumed (--cluster-api-version)`;

/** In which other releases a plan would be another one, in one line; undefined if in none. */
async function differingReleases(
  made: Plan,
  planFor: (release: Release) => Promise<Plan>,
): Promise<string | undefined> {
  const differing: string[] = [];
  for (let minor = 12; minor < newestKnownRelease.minor; minor++) {
    const release = v1(minor);
    if (!isSame(outcomeOf(await planFor(release)), outcomeOf(made))) {
      differing.push(formatRelease(release));
    }
  }
  return differing.length === 0
    ? undefined
    : `the plan differs in ${differing.join(' and ')}, and the installed release is not known: name it with --cluster-api-version`;
}

export const command = defineCommand({
  description:
    'Says which Machines a change will replace, and why. Compares two states of Clusters, ClusterClasses, templates and other objects, as Cluster API would. Without --from, the state before is the cluster, which is only read. Without -f as well, shows what is under way. Calls the extensions of ExtensionConfigs in these states.',
  flags: planFlags,
  help: `
-f is applied on top of --from, or of the cluster, as with "kubectl apply".
Objects that Cluster API creates (control planes, MachineDeployments, Machines,
copied templates) are not read from -f, and computed where they are missing.
With --set-version or --set-variable, -f alone is the state before. Secrets are
never shown.

Exit code: 0 the plan was made, 1 Cluster API refuses the change or stops,
an object or an answer of an extension could not be used, a name matches
nothing, or --fail-on applies, 2 usage error.`,
  async run({ flags, io, isGiven }) {
    if (flags.recorded !== undefined && flags.from.length > 0) {
      throw new UsageError('--recorded and --from both give the state before: leave one out');
    }
    const isUpgraded = flags['to-cluster-api-version'] !== undefined;
    const isEdited = isUpgraded || flags['set-version'] !== undefined || flags['set-variable'].length > 0;
    const isOfCluster = isGiven('kubeconfig') || isGiven('context');
    using progress = showProgress(io);
    const source = await sourceOf(flags, io, { isOfCluster, isEdited }, (objects) => {
      progress.done.objects = objects;
    });
    const releases = releasesOf(flags, source.installed);
    const states = statesOf(source, flags);
    progress.done.of = states.planned.size;
    const { live, answers, change } = source;
    const isChange = change.objects.length > 0 || isEdited || flags.extension.length > 0;
    // What is written is discovered anew.
    const replaced = new Set([...flags.extension.map(({ name }) => name), ...change.objects.map(nameOf)]);
    const extensions = {
      before: extensionsIn(states.before, source.before, replaced, answers === undefined),
      after: extensionsIn(states.after, change, replaced, answers === undefined),
    };
    const configs = [...extensions.before.configs, ...extensions.after.configs];
    const places = new Map(flags.resolve);
    using _reached = live && (await reachServices(configs, places, live.cluster, flags, io));
    await using caller = await createPlanCaller({
      ...extensions,
      release: releases.after,
      ...(isUpgraded && { releaseBefore: releases.before }),
      resolve: resolveIn(places),
      signal: io.signal,
      onCall: () => progress.done.calls++,
    });
    const isNew = ({ handler }: HookCall) => handler === '' || replaced.has(extensionOfHandler(handler));
    const recording = recordingCalls(
      answers === undefined
        ? caller.call
        : recordedCalls(answers, (call) => (isNew(call) ? caller.call(call) : undefined)),
    );
    const world = live?.world ?? new World([]);
    // The API server has the schemas and webhooks of the release that is installed.
    const isDryRun = flags['dry-run'] === 'server' && !isUpgraded;
    const parts = { call: recording.call, ...(!isDryRun && { dryRun: undefined }) };
    const before = world.withObjects(states.before, parts);
    const asked =
      live === undefined || !isDryRun
        ? undefined
        : await askAboutWrites(
            {
              before,
              after: states.after,
              manifests: change.objects,
              isEdited,
              fieldManager: flags['field-manager'],
            },
            live.dryRuns,
          );
    const after = world.withObjects(asked?.after ?? states.after, parts);
    const request = {
      ...(asked && { answers: asked.answers }),
      now: new Date(),
      // If it is not known which extensions there are, asking them says so, where a Machine depends on it.
      updatesInPlace: caller.updatesInPlace || !world.isRead(runtimeGroup, 'ExtensionConfig'),
      explains: !isChange,
      isPlanned: (namespace: string, name: string) => states.planned.has(`${namespace}/${name}`),
      signal: io.signal,
    };
    const made = await plan(before, after, {
      ...request,
      clusterApiVersion: releases.after,
      clusterApiVersionBefore: releases.before,
      onCluster: () => progress.done.clusters++,
      ...(flags.write !== undefined && { onObjects: objectWriter(flags.write, states.hiding) }),
    });
    const isAssumed =
      live !== undefined && source.installed === undefined && flags['cluster-api-version'] === undefined;
    const differing =
      isAssumed && flags['fail-on'] !== 'none'
        ? await differingReleases(made, (release) => plan(before, after, { ...request, clusterApiVersion: release }))
        : undefined;
    progress.clear();
    if (flags.record !== undefined) {
      writeRecording(flags.record, { objects: states.before, answers: recording.answers });
      io.stderr.write(`plan: ${count(recording.answers.length, 'answer')} recorded in ${printable(flags.record)}\n`);
    }
    const result = isChange ? made : withWaits(made, states.before);
    const clusters = result.clusters.map((one) => (states.isSample ? { ...one, sample: true as const } : one));
    const told = {
      ...states,
      notes: [
        ...(isAssumed ? [assumedRelease] : []),
        ...states.notes,
        ...(asked?.notes ?? []),
        ...(live?.dryRuns.notes() ?? []),
      ],
      problems: [...states.problems, ...(differing === undefined ? [] : [differing])],
    };
    return show({ ...result, clusters }, source, told, releases, flags, io);
  },
});
