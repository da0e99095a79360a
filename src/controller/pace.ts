import type { WatchPace } from '../cluster/index.ts';
import type { QueuePace } from './queue.ts';

/** Times and limits of a controller; tests pass others. */
export interface ControllerPace {
  /** How long after a success an extension is asked again, in ms: at least as often. */
  resyncMs: number;
  /** How often the mode `observe` looks at an extension, in ms. */
  observeMs: number;
  /** How often Secrets are read, and the pause after each of them, in ms: ten reads a second at most. */
  secretPollMs: number;
  secretGapMs: number;
  /** Maximum number of ExtensionConfigs that are worked on at a time, and of those whose last run failed. */
  concurrency: number;
  failingConcurrency: number;
  /** How often to look for Cluster API's own controller, and how soon to retry if that fails at the start, in ms. */
  rivalCheckMs: number;
  rivalRetryMs: number;
  queue: QueuePace;
  informer: Partial<WatchPace>;
}

/**
 * As Cluster API has them, but for the concurrency (there 10): most of the time of a run is a wait for the extension.
 */
export const defaultPace: ControllerPace = {
  resyncMs: 10 * 60_000,
  observeMs: 60_000,
  secretPollMs: 10_000,
  secretGapMs: 100,
  concurrency: 32,
  failingConcurrency: 16,
  rivalCheckMs: 60_000,
  rivalRetryMs: 2_000,
  queue: { minIntervalMs: 1_000, backoffMs: 1_000, backoffStepMs: 5, maxBackoffMs: 1_000_000 },
  informer: {},
};
