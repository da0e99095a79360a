import type { Extension } from '../registry/registration.ts';

/** Identifies an extension: one that was deleted and created again starts without a backoff. */
type Identity = Pick<Extension, 'name' | 'uid'>;

/** An extension that is failing. */
interface Failing {
  uid: string;
  failures: number;
  /** When it may be called again, in ms. */
  until: number;
  lastError: string;
}

/** Protects failing extensions from too many calls: after each failure the wait doubles. */
export interface Backoff {
  /** The backoff that prevents a call, or undefined if it may be made. */
  holds(extension: Identity): { waitMs: number; failures: number; lastError: string } | undefined;
  failed(extension: Identity, error: string): void;
  succeeded(extension: Identity): void;
  forget(name: string): void;
  /** Milliseconds until the extension may be called again. */
  waitMs(extension: Identity): number;
}

/** The first wait, and the longest one, in ms. */
const firstMs = 1000;
const longestMs = 60_000;

/**
 * Creates a backoff per extension: 1 s after the first failure, then 2 s, 4 s, … up to a minute. A success resets it.
 */
export function createBackoff(now: () => number): Backoff {
  const byName = new Map<string, Failing>();
  const failingOf = ({ name, uid }: Identity) => {
    const known = byName.get(name);
    return known?.uid === uid ? known : undefined;
  };
  const waitMs = (extension: Identity) => Math.max(0, (failingOf(extension)?.until ?? 0) - now());
  return {
    waitMs,
    holds(extension) {
      const known = failingOf(extension);
      const wait = waitMs(extension);
      return known === undefined || wait === 0
        ? undefined
        : { waitMs: wait, failures: known.failures, lastError: known.lastError };
    },
    failed(extension, lastError) {
      // Concurrent calls that fail together count as one failure.
      if (waitMs(extension) > 0) {
        return;
      }
      const failures = (failingOf(extension)?.failures ?? 0) + 1;
      const delay = Math.min(firstMs * 2 ** Math.min(failures - 1, 16), longestMs);
      byName.set(extension.name, { uid: extension.uid, failures, until: now() + delay, lastError });
    },
    succeeded: ({ name }) => void byName.delete(name),
    forget: (name) => void byName.delete(name),
  };
}
