/** Intervals of consecutive watches, in ms; tests pass shorter ones. */
export interface WatchPace {
  /** How long one watch lasts; API servers accept whole seconds. */
  watchMs: number;
  /** How long after that a silent connection is considered dead. */
  graceMs: number;
  /** The shortest and the longest wait between failed attempts to watch. */
  minRetryMs: number;
  maxRetryMs: number;
  /** How long the response to a read may take: an object, or a page of a list. */
  readDeadlineMs: number;
  /** How often a single object is read while it cannot be watched, and the longest wait between failed reads. */
  pollMs: number;
  maxPollMs: number;
}

/** The wait after a number of failures in a row (at least one), in ms: twice as long each time. */
export function waitAfter(failures: number, minMs: number, maxMs: number): number {
  return Math.min(maxMs, minMs * 2 ** (failures - 1));
}
