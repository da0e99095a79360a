import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { connect } from '../kubernetes/client/index.ts';
import { type Client, type ClientOptions, createClient, type KnownHooks } from '../runtimehooks/client/index.ts';
import { createHookCatalog, newestKnownRelease } from '../runtimehooks/index.ts';
import { guardWrites } from './election/guarded-writes.ts';
import { Candidate, type LeaderElectionOptions } from './election/leader-election.ts';
import type { LeaseName } from './election/lease.ts';
import { type ControllerPace, defaultPace } from './queue/pace.ts';
import { clusterApiLease, watchForRival } from './rival.ts';
import { Term } from './term.ts';
import { type ControllerMetrics, createControllerMetrics } from './workers/metrics.ts';
import { type CreateWorker, type Mode, workersFor } from './workers/workers.ts';

/** Options of a controller. */
export interface ControllerOptions {
  /** Connection to the API server. */
  kubeConfig: KubeConfig;
  mode: Mode;
  log: Logger;
  /** Where metrics are registered. Default: nowhere. */
  metrics?: Registry | undefined;
  /** How to call extensions: addresses to use for hosts, a client certificate, hooks of a provider. */
  extensions?: Pick<ClientOptions, 'resolve' | 'clientCertificate' | 'catalog' | 'release'>;
  /** The Lease for leader election. Default: there is only one replica. */
  leaderElection?: LeaderElectionOptions | undefined;
  /**
   * The Lease of Cluster API's own controller. While that runs, the mode `discover` refuses to work. `false` skips the
   * check. Default: the Lease that `clusterctl init` installs.
   */
  rival?: LeaseName | false;
  /** Default: the system's clock. Used only for the times in conditions, never for decisions, since it may jump. */
  now?: () => Date;
  /** Milliseconds of a monotonic clock. Default: the system's. */
  monotonicMs?: () => number;
  /** For tests. */
  pace?: Partial<ControllerPace>;
}

/** A running controller. */
export interface RunningController {
  /**
   * Resolves when all ExtensionConfigs have been listed for the first time; never, if the controller is stopped before.
   */
  readonly synced: Promise<void>;
  /**
   * Resolves when the controller has ended. Rejects with a `RivalError` when Cluster API's own controller does the same
   * work.
   */
  readonly ended: Promise<void>;
  /**
   * Why the controller is not doing its work, for a readiness probe; undefined when it is, or when another replica
   * leads.
   */
  readonly problem: string | undefined;
  /** Calls the handlers that are registered. */
  readonly client: Client;
  /** Aborts discoveries in progress, lets writes finish, releases the Lease, and stops. Never rejects. */
  stop(): Promise<void>;
}

/** Connects the check for a rival, the election, the terms of work and the shutdown. */
class Controller implements RunningController {
  readonly client: Client;
  readonly synced: Promise<void>;
  readonly ended: Promise<void>;
  readonly #options: ControllerOptions;
  readonly #pace: ControllerPace;
  readonly #now: () => Date;
  readonly #identity: string;
  readonly #metrics: ControllerMetrics;
  readonly #workerOn: CreateWorker;
  readonly #stopping = new AbortController();
  readonly #firstSync = Promise.withResolvers<void>();
  readonly #end = Promise.withResolvers<void>();
  /** Why nothing else has started; takes precedence over other problems. */
  #startProblem: string | undefined = 'the controller starts';
  #election: Candidate | undefined;
  #term: Term | undefined;
  #over: Promise<void> | undefined;

  constructor(options: ControllerOptions) {
    const { extensions, leaderElection, log, mode, now = () => new Date() } = options;
    this.#options = options;
    this.#pace = { ...defaultPace, ...options.pace };
    this.#now = now;
    this.#identity = leaderElection?.identity ?? `${hostname()}_${randomUUID()}`;
    this.client = createClient({ ...extensions, ...(options.metrics && { metrics: options.metrics }) });
    this.synced = this.#firstSync.promise;
    this.ended = this.#end.promise;
    // If the user does not await `ended`, the reason is still in the log.
    this.ended.catch(() => {});
    const known: KnownHooks = {
      catalog: extensions?.catalog ?? createHookCatalog(),
      release: extensions?.release ?? newestKnownRelease,
    };
    this.#metrics = createControllerMetrics(options.metrics ?? new Registry(), known, {
      configs: () => this.#term?.configs() ?? [],
      isLeading: () => this.#term !== undefined,
      load: () => this.#term?.load ?? { waiting: 0, running: 0 },
      silentSeconds: () =>
        this.#term?.confirmedAt === undefined ? undefined : (performance.now() - this.#term.confirmedAt) / 1000,
    });
    this.#workerOn = workersFor(mode, {
      client: this.client,
      resolve: extensions?.resolve,
      known,
      metrics: this.#metrics,
      log,
      now,
      pace: this.#pace,
      identity: this.#identity,
    });
  }

  get problem(): string | undefined {
    return this.#startProblem ?? this.#election?.problem ?? this.#term?.problem;
  }

  async stop(): Promise<void> {
    await this.#endAll();
    this.#end.resolve();
  }

  start(): void {
    const { mode, rival = clusterApiLease } = this.#options;
    if (mode === 'discover' && rival !== false) {
      void this.#beginWithout(rival);
    } else {
      this.#begin();
    }
  }

  /** Begins once it is certain that no other controller discovers extensions, and ends when one does. */
  async #beginWithout(rival: LeaseName): Promise<void> {
    const { kubeConfig, log } = this.#options;
    const { signal } = this.#stopping;
    const error = await watchForRival({
      cluster: connect(kubeConfig, signal, { retries: 0, deadlineMs: 10_000 }),
      lease: rival,
      now: this.#now,
      pace: this.#pace,
      signal,
      onFree: () => this.#begin(),
      onUnknown: (problem) => {
        if (this.#startProblem !== problem) {
          log.warn(problem);
        }
        this.#startProblem = problem;
      },
    });
    if (error !== undefined) {
      log.error(error.message);
      await this.#endAll();
      this.#end.reject(error);
    }
  }

  #begin(): void {
    const { kubeConfig, leaderElection, log, monotonicMs = () => performance.now() } = this.#options;
    this.#startProblem = undefined;
    if (leaderElection === undefined) {
      this.#beginTerm();
      return;
    }
    this.#election = new Candidate({
      kubeConfig,
      namespace: leaderElection.namespace,
      name: leaderElection.name,
      identity: this.#identity,
      leaseDurationMs: leaderElection.leaseDurationMs ?? 15_000,
      renewDeadlineMs: leaderElection.renewDeadlineMs ?? 10_000,
      retryPeriodMs: leaderElection.retryPeriodMs ?? 2_000,
      log,
      now: this.#now,
      monotonicMs,
      onElected: () => this.#beginTerm(),
      onLost: (reason) => {
        this.#term?.cut(new Error(reason));
        this.#term = undefined;
        this.#metrics.forgetAll();
      },
    });
  }

  #beginTerm(): void {
    // The election was won during the shutdown.
    if (this.#stopping.signal.aborted) {
      return;
    }
    const { kubeConfig, log, mode } = this.#options;
    const mayWrite = () => this.#election === undefined || this.#election.isLeading;
    this.#term = new Term({
      kubeConfig,
      worker: (cluster, onWrite) => this.#workerOn(guardWrites(cluster, mayWrite), onWrite),
      followsSecrets: mode === 'discover',
      log,
      pace: this.#pace,
      onSynced: () => this.#firstSync.resolve(),
      onRun: this.#metrics.ran,
    });
  }

  #endAll(): Promise<void> {
    this.#over ??= (async () => {
      this.#stopping.abort(new Error('the controller stops'));
      // Writes may finish only while this replica still leads.
      await this.#term?.end();
      await this.#election?.stop();
      await this.client.close();
    })();
    return this.#over;
  }
}

/** Starts a controller. It survives every failure of the API server and of extensions. */
export function startController(options: ControllerOptions): RunningController {
  const controller = new Controller(options);
  controller.start();
  return controller;
}
