import type { KubernetesClient } from '../../kubernetes/client/index.ts';
import { createEventRecorder } from '../configs/events.ts';
import { createConfigStore } from '../configs/stored.ts';
import { createDiscoverWorker } from './discover-worker.ts';
import { createObserveWorker } from './observe-worker.ts';
import type { Worker, WorkerContext } from './worker.ts';

export type Mode =
  /** Discovers extensions and writes their status, in clusters without Cluster API's own controller. */
  | 'discover'
  /** Writes nothing: metrics only. */
  | 'observe';

/** Creates the worker of a term, with that term's connection. */
export function createWorker(mode: Mode, context: WorkerContext, cluster: KubernetesClient): Worker {
  if (mode === 'observe') {
    return createObserveWorker(context);
  }
  const events = createEventRecorder(cluster, context);
  return createDiscoverWorker({ ...context, cluster, events, store: createConfigStore(cluster) });
}
