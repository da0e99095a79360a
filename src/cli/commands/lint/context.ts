import type { Readable } from 'node:stream';
import { count, withoutControls } from '../../../base/index.ts';
import { type LintPolicy, readContext } from '../../../checks/lint/index.ts';
import { loadKubeConfig } from '../../../kubernetes/client/index.ts';
import { showPlace } from '../../../kubernetes/manifests/index.ts';
import { readCluster } from '../../../policy/cluster-facts/index.ts';
import { FailureError, type Io, UsageError } from '../../framework/program.ts';
import { createProgress, startProgress } from '../../framework/progress.ts';
import { orNoCluster } from '../cluster-flags.ts';

/** The linter's facts about the cluster. */
export interface LintContext extends Pick<LintPolicy, 'facts' | 'prepare'> {
  /** Reports what could not be read. */
  finish?(): void;
}

/** The value of `--context` for the cluster of the kubeconfig. */
const clusterContext = 'cluster';

async function ofCluster(kubeconfig: string | undefined, io: Io): Promise<LintContext> {
  const config = await orNoCluster(loadKubeConfig({ kubeconfig }, io.env), '--context: ');
  let state = 'waiting for the API server';
  const progress = startProgress(io.stderr, () => state);
  try {
    const { facts, problems, prepare } = await readCluster({
      config,
      signal: io.signal,
      onProgress(resource, objects) {
        state = `${objects} objects read, now ${resource}`;
      },
    });
    progress.stop();
    if (problems.has('ExtensionConfig') && problems.has('Service')) {
      throw new FailureError(`--context: ${problems.get('ExtensionConfig')}`);
    }
    const tell = () => {
      for (const [kind, problem] of problems) {
        io.stderr.write(`lint: --context: nothing is known about ${kind}s: ${withoutControls(problem)}\n`);
      }
      problems.clear();
    };
    tell();
    // Secrets are read when a manifest names them.
    return { facts, prepare, finish: tell };
  } finally {
    progress.stop();
  }
}

async function ofFolders(paths: readonly string[], io: Io): Promise<LintContext> {
  if (paths.includes('-')) {
    throw new UsageError('--context: standard input is already being checked: name a file or a folder');
  }
  const progress = createProgress(io.stderr);
  let files = 0;
  const { facts, objects, errors } = await readContext(paths, io.stdin as Readable, io.signal, () => {
    files++;
    progress.show(() => `${count(files, 'file')} of the context`);
  });
  progress.clear();
  const [first] = errors;
  const named = errors.find(({ file }) => paths.includes(file));
  if (named !== undefined && named.line === undefined) {
    throw new UsageError(`--context: ${showPlace(named)}: ${withoutControls(named.message)}`);
  }
  if (first !== undefined) {
    io.stderr.write(
      `lint: --context: ${count(errors.length, 'document')} could not be read and are left out; the first is ${showPlace(first)}: ${withoutControls(first.message)}\n`,
    );
  }
  if (objects === 0) {
    throw new UsageError(
      `--context: no object in ${count(files, 'file')} that rules know about: ExtensionConfig, ClusterClass, Cluster, Namespace, Service, Secret`,
    );
  }
  return { facts };
}

/**
 * The facts about the cluster according to the flag `--context`; none without it.
 *
 * @throws {UsageError} for a context that cannot be read, {FailureError} when the cluster does not respond.
 */
export async function contextOf(
  contexts: readonly string[],
  { kubeconfig }: { kubeconfig: string | undefined },
  io: Io,
): Promise<LintContext> {
  if (contexts.length === 0) {
    return {};
  }
  if (!contexts.includes(clusterContext)) {
    return ofFolders(contexts, io);
  }
  if (contexts.length > 1) {
    throw new UsageError(
      `--context: "${clusterContext}" cannot be combined with folders; write ./${clusterContext} for a folder of that name`,
    );
  }
  return ofCluster(kubeconfig, io);
}
