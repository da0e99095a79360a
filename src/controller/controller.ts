import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import type { Registry as MetricsRegistry } from 'prom-client';
import type { Cluster } from '../cluster/index.ts';
import { type Client, type ClientOptions, createClient } from '../runtime/index.ts';
import { createDiscoverWorker } from './discover-worker.ts';
import { createEventRecorder } from './events.ts';
import { type ControllerPace, defaultPace } from './pace.ts';
import { startTerm, type Term } from './term.ts';
import type { Worker } from './worker.ts';

/** What a controller does. */
export type Mode =
  /** Discovers extensions and writes their status: for clusters without Cluster API's own controller. */
  | 'discover'
  /** Writes one condition about the versions of hooks, beside Cluster API's controller. */
  | 'advise'
  /** Writes nothing: metrics only. */
  | 'observe';

export interface ControllerOptions {
  /** How to reach the API server. */
  kubeConfig: KubeConfig;
  mode: Mode;
  log: Logger;
  /** Where metrics are registered. Default: nowhere. */
  metrics?: MetricsRegistry | undefined;
  /** How extensions are called: where hosts are reached instead, a client certificate, hooks of a provider. */
  extensions?: Pick<ClientOptions, 'resolve' | 'clientCertificate' | 'catalog' | 'release'>;
  /** Default: the system's clock. Transition times come from it, and nothing else: it may step. */
  now?: () => Date;
  /** For tests. */
  pace?: Partial<ControllerPace>;
}

/** A controller that works. */
export interface RunningController {
  /** Resolves when all ExtensionConfigs were read for the first time; never, when it is stopped before. */
  readonly synced: Promise<void>;
  /** Why it does not do its work now, for a readiness probe; undefined when it does. */
  readonly problem: string | undefined;
  /** Calls the handlers that are registered. */
  readonly client: Client;
  /** Ends discoveries under way, lets writes under way end, and stops. Never rejects. */
  stop(): Promise<void>;
}

/** Who reports events. */
const component = 'extensionconfig-webhook';

/** Starts a controller. It goes on through every failure of the API server and of extensions. */
export function startController(options: ControllerOptions): RunningController {
  const { kubeConfig, log, now = () => new Date() } = options;
  const client = createClient({ ...options.extensions, ...(options.metrics && { metrics: options.metrics }) });
  const synced = Promise.withResolvers<void>();
  const pace = { ...defaultPace, ...options.pace };
  const instance = `${hostname()}_${randomUUID()}`;

  function workerOn(cluster: Cluster): Worker {
    const events = createEventRecorder({
      cluster,
      component,
      instance,
      now,
      onProblem: (problem) => log.warn({ problem }, 'an event could not be written'),
    });
    return createDiscoverWorker({ cluster, client, events, log, now, resyncMs: pace.resyncMs });
  }

  const term: Term = startTerm({
    kubeConfig,
    worker: workerOn,
    followsSecrets: options.mode === 'discover',
    log,
    pace,
    onSynced: () => synced.resolve(),
  });
  let stopped: Promise<void> | undefined;
  return {
    synced: synced.promise,
    get problem() {
      return term.problem;
    },
    client,
    stop() {
      stopped ??= term.end().then(() => client.close());
      return stopped;
    },
  };
}
