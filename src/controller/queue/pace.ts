import type { WatchPace } from '../../kubernetes/client/index.ts';
import type { QueuePace } from './queue.ts';

/** Intervals and limits of a controller; tests pass their own. */
export interface ControllerPace {
  /** Maximum time after a successful discovery until the next one, in ms. */
  resyncMs: number;
  /** How often the mode `observe` checks an extension, in ms. */
  observeMs: number;
  /** The same where the caBundle comes from a Secret, also after failures: the CA may be rotated, and others wait 30 s for it. */
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
