import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { type ClientOptions, createClient } from '../runtimehooks/client/index.ts';
import { newestKnownRelease } from '../runtimehooks/index.ts';
import { type ControllerPace, createDiscovery, defaultPace } from './discovery.ts';
import { Candidate, type LeaderElectionOptions } from './election/leader-election.ts';
import { createControllerMetrics } from './metrics.ts';
import { startTerm, type Term } from './term.ts';

export interface ControllerOptions {
  kubeConfig: KubeConfig;
  log: Logger;
  /** Where metrics are registered. Default: nowhere. */
  metrics?: Registry | undefined;
  /** How to call extensions: addresses to use for hosts, a client certificate, the release. */
  extensions?: Pick<ClientOptions, 'resolve' | 'clientCertificate' | 'release'>;
  /** The Lease for leader election. Default: there is only one replica. */
  leaderElection?: LeaderElectionOptions | undefined;
  /** Default: the system's clock. Used only for the times in conditions, never for decisions, since it may jump. */
  now?: () => Date;
  /** Milliseconds of a monotonic clock. Default: the system's. */
  monotonicMs?: () => number;
  /** For tests. */
  pace?: Partial<ControllerPace>;
}

export interface RunningController {
  /**
   * Resolves when all ExtensionConfigs have been listed for the first time; never, if the controller is stopped before.
   */
  readonly synced: Promise<void>;
  /**
   * Why the controller is not doing its work, for a readiness probe; undefined when it is, or when another replica
   * leads.
   */
  readonly problem: string | undefined;
  /** Aborts discoveries in progress, lets writes finish, releases the Lease, and stops. Never rejects. */
  stop(): Promise<void>;
}

/** Starts a controller. It survives every failure of the API server and of extensions. */
export function startController(options: ControllerOptions): RunningController {
  const { kubeConfig, log, extensions, leaderElection } = options;
  const { now = () => new Date(), monotonicMs = () => performance.now() } = options;
  const pace = { ...defaultPace, ...options.pace };
  const identity = leaderElection?.identity ?? `${hostname()}_${randomUUID()}`;
  const stopping = new AbortController();
  const firstSync = Promise.withResolvers<void>();
  let election: Candidate | undefined;
  let term: Term | undefined;
  let over: Promise<void> | undefined;

  const client = createClient({ ...extensions, ...(options.metrics && { metrics: options.metrics }) });
  const metrics = createControllerMetrics(
    options.metrics ?? new Registry(),
    { release: extensions?.release ?? newestKnownRelease },
    {
      configs: () => term?.configs() ?? [],
      isLeading: () => term !== undefined,
      load: () => term?.load ?? { waiting: 0, running: 0 },
      silentSeconds: () =>
        term?.confirmedAt === undefined ? undefined : (performance.now() - term.confirmedAt) / 1000,
    },
  );

  if (leaderElection === undefined) {
    beginTerm();
  } else {
    election = new Candidate({
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
    term = startTerm({
      kubeConfig,
      discovery: (cluster) =>
        createDiscovery({ cluster: election?.guard(cluster) ?? cluster, client, log, now, pace, identity }),
      log,
      pace,
      onSynced: firstSync.resolve,
      onRun: metrics.ran,
    });
  }

  function endAll(): Promise<void> {
    over ??= (async () => {
      const reason = new Error('the controller stops');
      stopping.abort(reason);
      // Writes may finish only while this replica still leads.
      await term?.end(reason);
      await election?.stop();
      await client.close();
    })();
    return over;
  }

  return {
    synced: firstSync.promise,
    get problem() {
      return election?.problem ?? term?.problem;
    },
    stop: endAll,
  };
}
