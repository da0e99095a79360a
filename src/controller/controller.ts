import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { type Cluster, connect } from '../cluster/index.ts';
import { createHookCatalog, newestKnownRelease } from '../hooks/index.ts';
import { type Client, type ClientOptions, createClient, type KnownHooks } from '../runtime/index.ts';
import { createAdviseWorker } from './advise-worker.ts';
import { createDiscoverWorker } from './discover-worker.ts';
import { createEventRecorder } from './events.ts';
import { type Election, type LeaderElectionOptions, startElection } from './leader-election.ts';
import { createControllerMetrics } from './metrics.ts';
import { createObserveWorker } from './observe-worker.ts';
import { type ControllerPace, defaultPace } from './pace.ts';
import { clusterApiLease, findRival, RivalError } from './rival.ts';
import { startTerm, type Term } from './term.ts';
import type { Worker } from './worker.ts';

/** What a controller does. */
export type Mode =
  /** Discovers extensions and writes their status: for clusters without Cluster API's own controller. */
  | 'discover'
  /** Writes one condition about the versions of hooks, alongside Cluster API's controller. */
  | 'advise'
  /** Writes nothing: metrics only. */
  | 'observe';

/** Options of a controller. */
export interface ControllerOptions {
  /** How to reach the API server. */
  kubeConfig: KubeConfig;
  mode: Mode;
  log: Logger;
  /** Where metrics are registered. Default: nowhere. */
  metrics?: Registry | undefined;
  /** How extensions are called: where hosts are reached instead, a client certificate, hooks of a provider. */
  extensions?: Pick<ClientOptions, 'resolve' | 'clientCertificate' | 'catalog' | 'release'>;
  /** The Lease that one of several replicas wins. Default: there is one replica only. */
  leaderElection?: LeaderElectionOptions | undefined;
  /**
   * The Lease of Cluster API's own controller, alongside which the mode `discover` refuses to work; false: do not look
   * for it. Default: the one that `clusterctl init` installs.
   */
  rival?: { namespace: string; name: string } | false;
  /** Default: the system's clock. Only for the times in conditions, never for decisions, since it may step. */
  now?: () => Date;
  /** Milliseconds of a clock that never steps. Default: the system's. */
  monotonicMs?: () => number;
  /** For tests. */
  pace?: Partial<ControllerPace>;
}

/** A running controller. */
export interface RunningController {
  /** Resolves when all ExtensionConfigs were read for the first time; never, when it is stopped before. */
  readonly synced: Promise<void>;
  /** Resolves at its end. Rejects with a {@link RivalError} when Cluster API's own controller does the same work. */
  readonly ended: Promise<void>;
  /** Why it does not do its work now, for a readiness probe; undefined when it does, or waits for another leader. */
  readonly problem: string | undefined;
  /** Calls the handlers that are registered. */
  readonly client: Client;
  /** Ends discoveries under way, lets writes under way end, gives the Lease back, and stops. Never rejects. */
  stop(): Promise<void>;
}

/** Who reports events. */
const component = 'extensionconfig-webhook';

/** For the reads at the start. */
const patience = { retries: 0, minTimeoutMs: 0, maxTimeoutMs: 0, deadlineMs: 10_000 };

/** Starts a controller. It survives every failure of the API server and of extensions. */
export function startController(options: ControllerOptions): RunningController {
  const { kubeConfig, log, mode, now = () => new Date(), monotonicMs = () => performance.now() } = options;
  const pace = { ...defaultPace, ...options.pace };
  const client = createClient({ ...options.extensions, ...(options.metrics && { metrics: options.metrics }) });
  const identity = options.leaderElection?.identity ?? `${hostname()}_${randomUUID()}`;
  const stopping = new AbortController();
  const synced = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  // A user who does not wait for the end finds the reason in the log.
  ended.promise.catch(() => {});
  let term: Term | undefined;
  let election: Election | undefined;
  const known: KnownHooks = {
    catalog: options.extensions?.catalog ?? createHookCatalog(),
    release: options.extensions?.release ?? newestKnownRelease,
  };
  const metrics = createControllerMetrics(options.metrics ?? new Registry(), known, {
    configs: () => term?.configs() ?? [],
    isLeading: () => term !== undefined,
    load: () => term?.load ?? { waiting: 0, running: 0 },
    silentSeconds: () => (term?.heardAt === undefined ? undefined : (performance.now() - term.heardAt) / 1000),
  });
  /** Why nothing else has been started; checked first. */
  let startProblem: string | undefined = 'the controller starts';

  /** Prevents writes by a former leader, even one whose timers were late. */
  function guarded(cluster: Cluster): Cluster {
    return {
      ...cluster,
      async request(method, path, body) {
        if (method !== 'GET' && election !== undefined && !election.isLeading) {
          throw new Error('another replica leads now: nothing is written');
        }
        return cluster.request(method, path, body);
      },
    };
  }

  /** The last logged problem with events: a missing permission affects every event. */
  let eventProblem: string | undefined;

  function workerOn(cluster: Cluster): Worker {
    const events = createEventRecorder({
      cluster,
      component,
      instance: identity.slice(0, 128),
      now,
      onProblem(problem) {
        if (problem !== eventProblem) {
          eventProblem = problem;
          log.warn({ problem }, 'an event could not be written');
        }
      },
    });
    switch (mode) {
      case 'discover':
        return createDiscoverWorker({ cluster, client, events, log, now, resyncMs: pace.resyncMs });
      case 'advise':
        return createAdviseWorker({ cluster, events, known, log, now });
      case 'observe':
        return createObserveWorker({
          client,
          resolve: options.extensions?.resolve,
          metrics,
          observeMs: pace.observeMs,
        });
    }
  }

  function beginTerm(): void {
    // Won while it stops.
    if (stopping.signal.aborted) {
      return;
    }
    term = startTerm({
      kubeConfig,
      worker: (cluster) => workerOn(guarded(cluster)),
      followsSecrets: mode === 'discover',
      log,
      pace,
      onSynced: () => synced.resolve(),
      onRun: metrics.ran,
    });
  }

  function begin(): void {
    startProblem = undefined;
    if (options.leaderElection === undefined) {
      beginTerm();
      return;
    }
    const { namespace, name } = options.leaderElection;
    election = startElection({
      kubeConfig,
      namespace,
      name,
      identity,
      leaseDurationMs: options.leaderElection.leaseDurationMs ?? 15_000,
      renewDeadlineMs: options.leaderElection.renewDeadlineMs ?? 10_000,
      retryPeriodMs: options.leaderElection.retryPeriodMs ?? 2_000,
      log,
      now,
      monotonicMs,
      onElected: beginTerm,
      onLost(reason) {
        term?.cut(new Error(reason));
        term = undefined;
        metrics.forgetAll();
      },
    });
  }

  /** Looks for Cluster API's controller, before the start and from then on. */
  async function watchForRival(lease: { namespace: string; name: string }): Promise<void> {
    const cluster = connect(kubeConfig, stopping.signal, patience);
    while (!stopping.signal.aborted) {
      let wait = pace.rivalCheckMs;
      try {
        const rival = await findRival(cluster, lease, now, stopping.signal);
        if (rival !== undefined) {
          throw new RivalError(
            `Cluster API's own controller discovers extensions in this cluster: ${rival} holds the Lease ${lease.namespace}/${lease.name}. Two would overwrite each other's status: use the mode advise or observe`,
          );
        }
        if (startProblem !== undefined && !stopping.signal.aborted) {
          begin();
        }
      } catch (error) {
        if (stopping.signal.aborted) {
          return;
        }
        if (error instanceof RivalError) {
          log.error(error.message);
          await end();
          ended.reject(error);
          return;
        }
        const problem = `whether Cluster API's own controller runs is not known: ${(error as Error).message}`;
        if (startProblem !== undefined) {
          wait = pace.rivalRetryMs;
          if (startProblem !== problem) {
            log.warn(problem);
          }
          startProblem = problem;
        }
      }
      await sleep(wait, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  }

  let over: Promise<void> | undefined;
  function end(): Promise<void> {
    over ??= (async () => {
      stopping.abort(new Error('the controller stops'));
      await term?.end();
      await election?.stop();
      await client.close();
    })();
    return over;
  }

  const rival = options.rival ?? clusterApiLease;
  if (mode === 'discover' && rival !== false) {
    void watchForRival(rival);
  } else {
    begin();
  }
  return {
    synced: synced.promise,
    ended: ended.promise,
    get problem() {
      return startProblem ?? election?.problem ?? term?.problem;
    },
    client,
    async stop() {
      await end();
      ended.resolve();
    },
  };
}
