import type { Logger } from 'pino';
import type { KubernetesClient } from '../../kubernetes/client/index.ts';
import type { Client, ClientOptions, KnownHooks } from '../../runtimehooks/client/index.ts';
import { createEventRecorder, type EventRecorder } from '../configs/events.ts';
import type { ControllerPace } from '../queue/pace.ts';
import { createAdviseWorker } from './advise-worker.ts';
import { createDiscoverWorker } from './discover-worker.ts';
import type { ControllerMetrics } from './metrics.ts';
import { createObserveWorker } from './observe-worker.ts';
import type { Worker } from './worker.ts';

/** What a controller does. */
export type Mode =
  /** Discovers extensions and writes their status, in clusters without Cluster API's own controller. */
  | 'discover'
  /** Writes one condition about hook versions, alongside Cluster API's controller. */
  | 'advise'
  /** Writes nothing: metrics only. */
  | 'observe';

/** What the workers of a controller share across terms. */
export interface WorkerContext {
  client: Client;
  /** Addresses to use for hosts instead of those from DNS. */
  resolve: ClientOptions['resolve'];
  known: KnownHooks;
  metrics: ControllerMetrics;
  log: Logger;
  now: () => Date;
  pace: Pick<ControllerPace, 'resyncMs' | 'observeMs'>;
  /** Name of the replica, for events. */
  identity: string;
}

/** Reporting component of events. */
const component = 'extensionconfig-webhook';
/** Longest name of a replica that an event may have, in characters. */
const maxInstance = 128;

/** Returns a function that creates the worker of a mode for a term, with that term's connection. */
export function workersFor(mode: Mode, context: WorkerContext): (cluster: KubernetesClient) => Worker {
  const { client, known, log, now, pace } = context;
  /** The last logged problem with events. Logged once, since a missing permission affects every event. */
  let eventProblem: string | undefined;

  function eventsOn(cluster: KubernetesClient): EventRecorder {
    return createEventRecorder({
      cluster,
      component,
      instance: context.identity.slice(0, maxInstance),
      now,
      onProblem(problem) {
        if (problem !== eventProblem) {
          eventProblem = problem;
          log.warn({ problem }, 'an event could not be written');
        }
      },
    });
  }

  switch (mode) {
    case 'discover':
      return (cluster) =>
        createDiscoverWorker({ cluster, client, events: eventsOn(cluster), log, now, resyncMs: pace.resyncMs });
    case 'advise':
      return (cluster) => createAdviseWorker({ cluster, events: eventsOn(cluster), known, log, now });
    case 'observe': {
      const { metrics, resolve } = context;
      return () => createObserveWorker({ client, resolve, metrics, observeMs: pace.observeMs });
    }
  }
}
