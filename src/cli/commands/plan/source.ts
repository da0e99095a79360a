import { printable, shortList } from '../../../base/index.ts';
import { installedRelease } from '../../../checks/installed-release.ts';
import { type LiveWorld, readWorld } from '../../../checks/plan/index.ts';
import { connect, type KubernetesClient, loadKubeConfig, shortRetries } from '../../../kubernetes/client/index.ts';
import { compareReleases, formatRelease, newestKnownRelease, type Release } from '../../../runtimehooks/index.ts';
import { layered } from '../../../topology/index.ts';
import { type Io, UsageError } from '../../framework/program.ts';
import { orNoCluster } from '../cluster-flags.ts';
import { readCrds } from '../manifest-objects.ts';
import { type Input, noInput, readFiles } from './files.ts';
import type { PlanFlags } from './flags.ts';
import { readRecording } from './recorded-folder.ts';

export interface Source {
  before: Input;
  change: Input;
  /** Of Cluster API, where the state was read from; undefined if it is not known. */
  installed?: Release | undefined;
  live?: { cluster: KubernetesClient } & Pick<LiveWorld, 'world' | 'dryRuns'>;
  answers?: ReturnType<typeof readRecording>['answers'];
}

/** The releases before and after. @throws {UsageError} if an upgrade has no beginning, or does not lead to a newer release. */
export function releasesOf(flags: PlanFlags, installed: Release | undefined): { before: Release; after: Release } {
  const to = flags['to-cluster-api-version'];
  const from = flags['cluster-api-version'] ?? installed;
  if (to === undefined) {
    const release = from ?? newestKnownRelease;
    return { before: release, after: release };
  }
  if (from === undefined) {
    throw new UsageError('--to-cluster-api-version: name the release before the upgrade with --cluster-api-version');
  }
  if (compareReleases(to, from) <= 0) {
    throw new UsageError(
      `--to-cluster-api-version: ${formatRelease(to)} is not newer than ${formatRelease(from)}: downgrades are not planned`,
    );
  }
  return { before: from, after: to };
}

async function readCluster(
  flags: PlanFlags,
  io: Io,
  onPage: (objects: number) => void,
): Promise<Omit<Source, 'change'>> {
  const hint = ': name one with --kubeconfig, or pass the manifests before the change with --from';
  const config = await orNoCluster(loadKubeConfig(flags, io.env), '', hint);
  const cluster = connect(config, io.signal, shortRetries);
  const { world, dryRuns } = await readWorld(cluster, { ...flags, onPage });
  return {
    before: { ...noInput(), objects: [...world], problems: world.unread.map(({ why }) => why) },
    installed: await installedRelease(cluster),
    live: { cluster, world, dryRuns },
  };
}

/** Reads what the flags name: files, a record, or a cluster. `onPage` gets the number of objects read so far. */
export async function sourceOf(
  flags: PlanFlags,
  io: Io,
  { isOfCluster, isEdited }: { isOfCluster: boolean; isEdited: boolean },
  onPage: (objects: number) => void,
): Promise<Source> {
  const change = flags.filename.length > 0 ? await readFiles('-f', flags.filename, io) : noInput();
  if (flags.filename.length > 0 && change.objects.length === 0 && change.problems.length === 0) {
    change.problems.push(`-f: no objects are in ${shortList(flags.filename.map(printable), 5)}`);
  }
  const source = await (async (): Promise<Source> => {
    if (flags.recorded !== undefined) {
      const { objects, answers } = readRecording(flags.recorded);
      return { before: { ...noInput(), objects }, change, answers };
    }
    if (flags.from.length > 0) {
      return { before: await readFiles('--from', flags.from, io), change };
    }
    return isEdited && flags.filename.length > 0 && !isOfCluster
      ? { before: change, change: noInput() }
      : { ...(await readCluster(flags, io, onPage)), change };
  })();
  const objects = layered(source.before.objects, await readCrds(flags.crds, io));
  return { ...source, before: { ...source.before, objects } };
}
