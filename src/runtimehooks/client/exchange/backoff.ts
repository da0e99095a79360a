import type { Extension } from '../registry.ts';

/** Identifies an extension: one that was deleted and created again starts without a backoff. */
type Identity = Pick<Extension, 'name' | 'uid'>;

interface Failing {
  uid: string;
  failures: number;
  /** When it may be called again, in ms. */
  until: number;
  lastError: string;
}

/** The first wait, and the longest one, in ms. */
const firstMs = 1000;
const longestMs = 60_000;

/**
 * Protects failing extensions from too many calls: for 1 s after the first failure, then for 2 s, 4 s, … up to a minute. A
 * success resets it.
 *
 * @param now returns milliseconds of a monotonic clock.
 */
export function createBackoff(now: () => number) {
  const byName = new Map<string, Failing>();
  const failingOf = ({ name, uid }: Identity) => {
    const known = byName.get(name);
    return known?.uid === uid ? known : undefined;
  };
  /** The failures that prevent a call, and for how many ms more; undefined if it may be made. */
  function holds(extension: Identity): (Failing & { waitMs: number }) | undefined {
    const failing = failingOf(extension);
    const waitMs = (failing?.until ?? 0) - now();
    return failing === undefined || waitMs <= 0 ? undefined : { ...failing, waitMs };
  }
  return {
    holds,
    failed(extension: Identity, lastError: string): void {
      // Concurrent calls that fail together count as one failure.
      if (holds(extension) === undefined) {
        const failures = (failingOf(extension)?.failures ?? 0) + 1;
        const delay = Math.min(firstMs * 2 ** Math.min(failures - 1, 16), longestMs);
        byName.set(extension.name, { uid: extension.uid, failures, until: now() + delay, lastError });
      }
    },
    /** Ends the backoff of an extension that has answered, or was deleted. */
    forget: (name: string) => void byName.delete(name),
  };
}
