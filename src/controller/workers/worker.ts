import type { Logger } from 'pino';
import type { KubernetesClient, WatchPace } from '../../kubernetes/client/index.ts';
import type { Client, ClientOptions, KnownHooks } from '../../runtimehooks/client/index.ts';
import type { EventRecorder } from '../configs/events.ts';
import type { ConfigStore, StoredConfig } from '../configs/stored.ts';
import type { QueuePace, RunResult } from '../queue.ts';
import type { ControllerMetrics } from './metrics.ts';

/** Intervals and limits of a controller; tests pass their own. */
export interface ControllerPace {
  /** Maximum time after a successful discovery until the next one, in ms. */
  resyncMs: number;
  /** How often the mode `observe` checks an extension, in ms. */
  observeMs: number;
  /** How often the Secret with a CA is read, in ms, also after failures: the CA may be rotated, and others wait 30 s for it. */
  secretMs: number;
  /** Maximum number of concurrent runs. */
  concurrency: number;
  queue: QueuePace;
  informer: Partial<WatchPace>;
}

/**
 * As in Cluster API, except for the concurrency (there 10): a run spends most of its time waiting for the extension.
 */
export const defaultPace: ControllerPace = {
  resyncMs: 10 * 60_000,
  observeMs: 60_000,
  secretMs: 20_000,
  concurrency: 32,
  queue: { minIntervalMs: 1_000, backoffMs: 1_000, backoffStepMs: 5, maxBackoffMs: 1_000_000 },
  informer: {},
};

/** State that the workers of a controller share across terms. */
export interface WorkerContext {
  client: Client;
  /** Addresses to use for hosts instead of those from DNS. */
  resolve: ClientOptions['resolve'];
  known: KnownHooks;
  metrics: ControllerMetrics;
  log: Logger;
  now: () => Date;
  pace: ControllerPace;
  /** Name of the replica, for events. */
  identity: string;
}

/** The same, with what a worker that writes has during a term. */
export interface WritingContext extends WorkerContext {
  cluster: KubernetesClient;
  store: ConfigStore;
  events: EventRecorder;
}

/** How a mode handles ExtensionConfigs. */
export interface Worker {
  /** The input of a run besides the spec: only when that changes, another run is needed. */
  fingerprintOf(config: StoredConfig): string;
  /** Called once all ExtensionConfigs have been listed, before the first run. */
  begin?(configs: readonly StoredConfig[]): void;
  /** Reconciles one ExtensionConfig. @throws {Error} when the API server fails: the run is retried. */
  run(config: StoredConfig, signal: AbortSignal): Promise<RunResult>;
  /** Called when an ExtensionConfig is deleted, and after its last run. */
  forget(name: string): void;
  /** Writes what is still pending. */
  flush?(): Promise<void>;
}
