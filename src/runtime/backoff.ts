/** Where a failing extension stands. */
interface Failing {
  failures: number;
  /** When it is asked again, in ms. */
  until: number;
  lastError: string;
}

/** Keeps extensions that are down from being hammered: after each failure the wait doubles. */
export interface Backoff {
  /** What holds a call back, or undefined when it may go. */
  holds(key: string): { waitMs: number; failures: number; lastError: string } | undefined;
  failed(key: string, error: string): void;
  succeeded(key: string): void;
  forget(key: string): void;
  /** Milliseconds that an extension is still left alone. */
  waitMs(key: string): number;
}

/** The first wait, and the longest one, in ms. */
const firstMs = 1000;
const longestMs = 60_000;

/** A backoff for each key: 1 s after the first failure, then 2 s, 4 s, … up to a minute; a success ends it. */
export function createBackoff(now: () => number): Backoff {
  const failing = new Map<string, Failing>();
  const waitMs = (key: string) => Math.max(0, (failing.get(key)?.until ?? 0) - now());
  return {
    waitMs,
    holds(key) {
      const known = failing.get(key);
      const wait = waitMs(key);
      return known === undefined || wait === 0
        ? undefined
        : { waitMs: wait, failures: known.failures, lastError: known.lastError };
    },
    failed(key, lastError) {
      // Calls that ran at the same time fail together, which is one failure.
      if (waitMs(key) > 0) {
        return;
      }
      const failures = (failing.get(key)?.failures ?? 0) + 1;
      const delay = Math.min(firstMs * 2 ** Math.min(failures - 1, 16), longestMs);
      failing.set(key, { failures, until: now() + delay, lastError });
    },
    succeeded: (key) => void failing.delete(key),
    forget: (key) => void failing.delete(key),
  };
}
