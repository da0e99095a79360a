import type { Logger } from 'pino';
import type { KubernetesClient } from '../../kubernetes/client/index.ts';
import type { Client, ClientOptions, KnownHooks } from '../../runtimehooks/client/index.ts';
import type { EventRecorder } from '../configs/events.ts';
import type { ConfigStore, StoredConfig } from '../configs/stored.ts';
import type { ControllerPace } from '../queue/pace.ts';
import type { RunResult } from '../queue/queue.ts';
import type { ControllerMetrics } from './metrics.ts';

/** What the workers of a controller share across terms. */
export interface WorkerContext {
  client: Client;
  /** Addresses to use for hosts instead of those from DNS. */
  resolve: ClientOptions['resolve'];
  known: KnownHooks;
  metrics: ControllerMetrics;
  log: Logger;
  now: () => Date;
  pace: Pick<ControllerPace, 'resyncMs' | 'secretMs' | 'observeMs'>;
  /** Name of the replica, for events. */
  identity: string;
}

/** The same, with what a worker that writes has during a term. */
export interface WritingContext extends WorkerContext {
  cluster: KubernetesClient;
  store: ConfigStore;
  events: EventRecorder;
}

/** What a mode does with ExtensionConfigs. */
export interface Worker {
  /** The parts of an object that a run depends on: when they are unchanged, no other run is needed. */
  fingerprintOf(config: StoredConfig): string;
  /** Called once all ExtensionConfigs have been listed, before the first run. */
  begin?(configs: readonly StoredConfig[]): void;
  /**
   * Reconciles one ExtensionConfig, and returns the object after its writes, if there are any.
   *
   * @throws {Error} when the API server fails: the run is retried.
   */
  run(config: StoredConfig, signal: AbortSignal): Promise<RunResult & { after?: StoredConfig }>;
  forget(config: StoredConfig): void;
  /** Writes what is still pending. */
  flush?(): Promise<void>;
}
