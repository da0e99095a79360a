import type { KubeConfig } from '@kubernetes/client-node';
import { type Cluster, connect, StatusError } from './cluster.ts';

/** Times of watches that follow one another, in ms; tests pass shorter ones. */
export interface WatchPace {
  /** How long one watch is asked for: at its end another begins. A whole number of seconds, to an API server. */
  watchMs: number;
  /** How long after that a connection that says nothing counts as dead. */
  graceMs: number;
  /** The first and the longest wait between two tries to watch that fail. */
  minRetryMs: number;
  maxRetryMs: number;
  /** How long one answer may take that is not a watch: an object, or a page of a list. */
  readDeadlineMs: number;
}

/** Requests for what is followed. None is tried again by itself: whoever follows says what fails, and when it tries again. */
export function connectToFollow(
  config: KubeConfig,
  signal: AbortSignal,
  { readDeadlineMs }: Pick<WatchPace, 'readDeadlineMs'>,
): Cluster {
  return connect(config, signal, { retries: 0, minTimeoutMs: 0, maxTimeoutMs: 0, deadlineMs: readDeadlineMs });
}

/** The wait after so many failures in a row (one at least), in ms: each twice as long as the one before. */
export function waitAfter(failures: number, minMs: number, maxMs: number): number {
  return Math.min(maxMs, minMs * 2 ** (failures - 1));
}

/** How long the server asks to wait by the error that it answered with, in ms; 0 when it does not. */
export function askedWait(error: unknown): number {
  return error instanceof StatusError ? (error.retryAfterMs ?? 0) : 0;
}
