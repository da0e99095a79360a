import type { Readable } from 'node:stream';
import { count, withoutControls } from '../../../base/index.ts';
import { type LintPolicy, readManifestFacts } from '../../../checks/lint/index.ts';
import { loadKubeConfig } from '../../../kubernetes/client/index.ts';
import { showPlace } from '../../../kubernetes/manifests/index.ts';
import { readCluster } from '../../../policy/cluster-facts/index.ts';
import { FailureError, type Io, UsageError } from '../../framework/program.ts';
import { createProgress, startProgress } from '../../framework/progress.ts';
import { orNoCluster } from '../cluster-flags.ts';

export interface LintFacts extends Pick<LintPolicy, 'facts' | 'prepare'> {
  finish?(): void;
}

async function ofCluster(flags: FactsFlags, io: Io): Promise<LintFacts> {
  const config = await orNoCluster(loadKubeConfig(flags, io.env), '--cluster-facts: ');
  let state = 'waiting for the API server';
  using progress = startProgress(io.stderr, () => state);
  const { facts, problems, prepare } = await readCluster({
    config,
    signal: io.signal,
    onProgress(resource, objects) {
      state = `${objects} objects read, now ${resource}`;
    },
  });
  progress.clear();
  if (problems.has('ExtensionConfig') && problems.has('Service')) {
    throw new FailureError(`--cluster-facts: ${problems.get('ExtensionConfig')}`);
  }
  const reportUnread = () => {
    for (const [kind, problem] of problems) {
      io.stderr.write(`lint: --cluster-facts: nothing is known about ${kind}s: ${withoutControls(problem)}\n`);
    }
    problems.clear();
  };
  reportUnread();
  // Secrets are read when a manifest names them.
  return { facts, prepare, finish: reportUnread };
}

async function ofManifests(paths: readonly string[], io: Io): Promise<LintFacts> {
  if (paths.includes('-')) {
    throw new UsageError('--facts: standard input is already being checked: name a file or a folder');
  }
  const progress = createProgress(io.stderr);
  let files = 0;
  const { facts, objects, errors } = await readManifestFacts(paths, io.stdin as Readable, io.signal, () => {
    files++;
    progress.show(() => `${count(files, 'file')} with facts`);
  });
  progress.clear();
  const [first] = errors;
  const named = errors.find(({ file }) => paths.includes(file));
  if (named !== undefined && named.line === undefined) {
    throw new UsageError(`--facts: ${showPlace(named)}: ${withoutControls(named.message)}`);
  }
  if (first !== undefined) {
    io.stderr.write(
      `lint: --facts: ${count(errors.length, 'document')} could not be read and are left out; the first is ${showPlace(first)}: ${withoutControls(first.message)}\n`,
    );
  }
  if (objects === 0) {
    throw new UsageError(
      `--facts: no object in ${count(files, 'file')} that rules know about: ExtensionConfig, ClusterClass, Cluster, Namespace, Service, Secret`,
    );
  }
  return { facts };
}

interface FactsFlags {
  facts: readonly string[];
  'cluster-facts': boolean;
  kubeconfig: string | undefined;
  context: string | undefined;
}

/** The facts about the cluster according to the flags; none by default. */
export async function factsOf(flags: FactsFlags, io: Io): Promise<LintFacts> {
  if (flags['cluster-facts']) {
    if (flags.facts.length > 0) {
      throw new UsageError(
        'lint: --cluster-facts takes the facts from the cluster, --facts from manifests: leave one out',
      );
    }
    return ofCluster(flags, io);
  }
  const unused =
    flags.context !== undefined ? '--context' : flags.kubeconfig !== undefined ? '--kubeconfig' : undefined;
  if (unused !== undefined) {
    throw new UsageError(
      `lint: ${unused} says which cluster to ask, and none is: add --cluster-facts, or --facts PATH for other manifests`,
    );
  }
  return flags.facts.length === 0 ? {} : ofManifests(flags.facts, io);
}
