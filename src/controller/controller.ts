import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import {
  connect,
  type InformerChange,
  type KubernetesClient,
  objectKey,
  shortRetries,
  startInformer,
} from '../kubernetes/client/index.ts';
import type { JsonObject } from '../kubernetes/index.ts';
import { type ClientOptions, createClient } from '../runtimehooks/client/index.ts';
import { newestKnownRelease } from '../runtimehooks/index.ts';
import { ConfigConflict, ConfigGone, collectionPath, readStored, type StoredConfig } from './configs/stored.ts';
import { type ControllerPace, createDiscovery, type Discovery, defaultPace, fingerprintOf } from './discovery.ts';
import { createCandidate, type LeaderElectionOptions } from './election/leader-election.ts';
import { createControllerMetrics } from './metrics.ts';
import { createQueue, type RunResult } from './queue.ts';

export interface ControllerOptions {
  kubeConfig: KubeConfig;
  log: Logger;
  metrics?: Registry | undefined;
  extensions?: Pick<ClientOptions, 'resolve' | 'clientCertificate' | 'release'>;
  /** The Lease for leader election. Default: there is only one replica. */
  leaderElection?: LeaderElectionOptions | undefined;
  /** Default: the system's clock. Used only for the times in conditions, never for decisions, since it may jump. */
  now?: () => Date;
  monotonicMs?: () => number;
  /** For tests. */
  pace?: Partial<ControllerPace>;
}

export interface RunningController {
  /** Resolves when all ExtensionConfigs have been listed once; never, if the controller is stopped before. */
  readonly synced: Promise<void>;
  /** Why the controller is not doing its work, for a readiness probe; undefined also while another replica leads. */
  readonly problem: string | undefined;
  /** Aborts discoveries in progress, lets writes finish, releases the Lease, and stops. Never rejects. */
  stop(): Promise<void>;
}

/** How long writes in flight may take at the end, in ms. */
const endMs = 5_000;

/** Fewer retries than usual, since the queue retries as well. */
const retryOptions = { ...shortRetries, deadlineMs: 20_000 };

interface TermContext {
  kubeConfig: KubeConfig;
  log: Logger;
  pace: ControllerPace;
  /** With a connection that ends with the term. */
  discoveryWith(cluster: KubernetesClient): Discovery;
  onSynced(): void;
  onRun(result: 'success' | 'failure', seconds: number): void;
}

/** Starts a term of work: changes of the watched copy put names into the queue, which are discovered as the copy then is. */
function startTerm({ kubeConfig, log, pace, discoveryWith, onSynced, onRun }: TermContext) {
  /** Aborts discoveries, but not writes. */
  const work = new AbortController();
  const connection = new AbortController();
  const discovery = discoveryWith(connect(kubeConfig, connection.signal, retryOptions));
  const queue = createQueue(run, pace.concurrency, pace.queue);
  const informer = startInformer(kubeConfig, {
    path: collectionPath,
    resource: 'extensionconfigs.runtime.cluster.x-k8s.io',
    pace: pace.informer,
    onChange: take,
    onProblem(problem) {
      if (problem === undefined) {
        log.info('the watch on the API server works again');
      } else {
        log.warn({ problem }, 'the watch on the API server fails');
      }
    },
  });
  void informer.synced.then(() => {
    const all = configs();
    log.info({ extensionConfigs: all.length }, 'all ExtensionConfigs were read');
    for (const { metadata } of all) {
      queue.add(metadata.name);
    }
    onSynced();
  });

  function stored(object: JsonObject | undefined): StoredConfig | undefined {
    const config = object && readStored(object);
    if (object !== undefined && config === undefined) {
      const extensionConfig = objectKey(object);
      log.error({ extensionConfig }, 'the API server has an ExtensionConfig that cannot be read');
    }
    return config;
  }

  const configs = () => informer.list().flatMap((object) => readStored(object) ?? []);

  function take({ type, key, object, previous }: InformerChange): void {
    const config = stored(object);
    // Of the first list, all are added at once.
    if (config === undefined || informer.ageMs === undefined) {
      return;
    }
    if (type === 'deleted') {
      log.info({ extensionConfig: key }, 'ExtensionConfig deleted');
      queue.add(key, true);
      return;
    }
    const before = previous && readStored(previous);
    const isSpecNew = before?.metadata.generation !== config.metadata.generation;
    // Not for a status that the controller itself has written.
    if (before === undefined || isSpecNew || fingerprintOf(before) !== fingerprintOf(config)) {
      // A new spec resets the backoff.
      queue.add(key, isSpecNew);
    }
  }

  async function run(name: string): Promise<RunResult> {
    const config = stored(informer.get(name));
    if (config === undefined || config.metadata.deletionTimestamp !== undefined) {
      discovery.forget(name);
      return undefined;
    }
    const began = performance.now();
    const report = (result: 'success' | 'failure') => onRun(result, (performance.now() - began) / 1000);
    try {
      const outcome = await discovery.run(config, work.signal);
      report(outcome?.result === 'failed' ? 'failure' : 'success');
      return outcome;
    } catch (error) {
      if (work.signal.aborted || error instanceof ConfigGone) {
        return { result: 'done' };
      }
      const { message } = error as Error;
      if (error instanceof ConfigConflict) {
        log.debug({ extensionConfig: name }, message);
        return { result: 'failed' };
      }
      const isBug = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
      const fields = { extensionConfig: name, ...(isBug ? { err: error } : { error: message }) };
      log[isBug ? 'error' : 'warn'](fields, 'ExtensionConfig will be retried');
      report('failure');
      return { result: 'failed' };
    }
  }

  return {
    informer,
    queue,
    configs,
    /** Aborts calls of extensions, and lets writes finish, unless another replica leads (`isLost`). */
    async end(reason: Error, isLost = false): Promise<void> {
      informer.stop();
      const idle = queue.stop();
      work.abort(reason);
      if (isLost) {
        connection.abort(reason);
      }
      const late = setTimeout(() => connection.abort(reason), endMs);
      await idle;
      await discovery.flush();
      clearTimeout(late);
      connection.abort(reason);
    },
  };
}

/** Starts a controller. It survives every failure of the API server and of extensions. */
export function startController(options: ControllerOptions): RunningController {
  const { kubeConfig, log, extensions, leaderElection, metrics: registry = new Registry() } = options;
  const { now = () => new Date(), monotonicMs = () => performance.now() } = options;
  const pace = { ...defaultPace, ...options.pace };
  const identity = leaderElection?.identity ?? `${hostname()}_${randomUUID()}`;
  const stopping = new AbortController();
  const { promise: synced, resolve: onSynced } = Promise.withResolvers<void>();
  let election: ReturnType<typeof createCandidate> | undefined;
  let term: ReturnType<typeof startTerm> | undefined;
  let over: Promise<void> | undefined;

  const client = createClient({ ...extensions, metrics: registry });
  const onRun = createControllerMetrics(registry, extensions?.release ?? newestKnownRelease, () => term);

  if (leaderElection === undefined) {
    beginTerm();
  } else {
    election = createCandidate({
      kubeConfig,
      ...leaderElection,
      identity,
      log,
      now,
      monotonicMs,
      onElected: beginTerm,
      onLost(reason) {
        void term?.end(new Error(reason), true);
        term = undefined;
      },
    });
  }

  function beginTerm(): void {
    // The election was won during the shutdown.
    if (stopping.signal.aborted) {
      return;
    }
    const discoveryWith = (cluster: KubernetesClient) =>
      createDiscovery({ cluster: election?.guard(cluster) ?? cluster, client, log, now, pace, identity });
    term = startTerm({ kubeConfig, log, pace, discoveryWith, onSynced, onRun });
  }

  async function endAll(): Promise<void> {
    const reason = new Error('the controller stops');
    stopping.abort(reason);
    // Writes may finish only while this replica still leads.
    await term?.end(reason);
    await election?.stop();
    await client.close();
  }

  return {
    synced,
    get problem() {
      const { problem, ageMs } = term?.informer ?? { problem: undefined, ageMs: 0 };
      const unread = ageMs === undefined ? 'the ExtensionConfigs have not been read yet' : undefined;
      return election?.problem ?? problem ?? unread;
    },
    stop() {
      over ??= endAll();
      return over;
    },
  };
}
