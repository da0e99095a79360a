import type { KubeConfig } from '@kubernetes/client-node';
import { type Cluster, connect } from './cluster.ts';

/** Times of consecutive watches, in ms; tests pass shorter ones. */
export interface WatchPace {
  /** How long one watch lasts, after which the next begins; API servers take whole seconds. */
  watchMs: number;
  /** How long after that a silent connection counts as dead. */
  graceMs: number;
  /** The first and the longest wait between two tries to watch that fail. */
  minRetryMs: number;
  maxRetryMs: number;
  /** How long a response other than a watch may take: an object, or a page of a list. */
  readDeadlineMs: number;
}

/** A connection for watching. It does not retry by itself: its user reports what fails and decides when to retry. */
export function connectToFollow(
  config: KubeConfig,
  signal: AbortSignal,
  { readDeadlineMs }: Pick<WatchPace, 'readDeadlineMs'>,
): Cluster {
  return connect(config, signal, { retries: 0, minTimeoutMs: 0, maxTimeoutMs: 0, deadlineMs: readDeadlineMs });
}

/** The wait after this many failures in a row (at least one), in ms: each is twice as long as the one before. */
export function waitAfter(failures: number, minMs: number, maxMs: number): number {
  return Math.min(maxMs, minMs * 2 ** (failures - 1));
}
