import type { KubernetesClient } from '../../kubernetes/client/index.ts';
import { createEventRecorder } from '../configs/events.ts';
import { createConfigStore } from '../configs/stored.ts';
import { createAdviseWorker } from './advise-worker.ts';
import { createDiscoverWorker } from './discover-worker.ts';
import { createObserveWorker } from './observe-worker.ts';
import type { Worker, WorkerContext, WritingContext } from './worker.ts';

export type Mode =
  /** Discovers extensions and writes their status, in clusters without Cluster API's own controller. */
  | 'discover'
  /** Writes one condition about hook versions, alongside Cluster API's controller. */
  | 'advise'
  /** Writes nothing: metrics only. */
  | 'observe';

const component = 'extensionconfig-webhook';
/** Longest name of a replica that an event may have, in characters. */
const maxInstance = 128;

/** Creates the worker of a term, with that term's connection. */
export type CreateWorker = (cluster: KubernetesClient) => Worker;

/** Returns the function that creates the workers of a mode. */
export function workersFor(mode: Mode, context: WorkerContext): CreateWorker {
  /** The last logged problem with events. Logged once, since a missing permission affects every event. */
  let eventProblem: string | undefined;

  function writingOn(cluster: KubernetesClient): WritingContext {
    const { identity, log, now } = context;
    const events = createEventRecorder({
      cluster,
      component,
      instance: identity.slice(0, maxInstance),
      now,
      onProblem(problem) {
        if (problem !== eventProblem) {
          eventProblem = problem;
          log.warn({ problem }, 'an event could not be written');
        }
      },
    });
    return { ...context, cluster, events, store: createConfigStore(cluster) };
  }

  switch (mode) {
    case 'discover':
      return (cluster) => createDiscoverWorker(writingOn(cluster));
    case 'advise':
      return (cluster) => createAdviseWorker(writingOn(cluster));
    case 'observe':
      return () => createObserveWorker(context);
  }
}
