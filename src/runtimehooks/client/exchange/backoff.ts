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
 */
export class Backoff {
  readonly #now: () => number;
  readonly #byName = new Map<string, Failing>();

  /** @param now returns milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The failures that prevent a call, and for how many ms more; undefined if it may be made. */
  holds(extension: Identity): { waitMs: number; failures: number; lastError: string } | undefined {
    const failing = this.#failing(extension);
    const waitMs = (failing?.until ?? 0) - this.#now();
    return failing === undefined || waitMs <= 0 ? undefined : { ...failing, waitMs };
  }

  failed(extension: Identity, lastError: string): void {
    // Concurrent calls that fail together count as one failure.
    if (this.holds(extension) !== undefined) {
      return;
    }
    const { name, uid } = extension;
    const failures = (this.#failing(extension)?.failures ?? 0) + 1;
    const delay = Math.min(firstMs * 2 ** Math.min(failures - 1, 16), longestMs);
    this.#byName.set(name, { uid, failures, until: this.#now() + delay, lastError });
  }

  /** Ends the backoff of an extension that has answered, or was deleted. */
  forget(name: string): void {
    this.#byName.delete(name);
  }

  #failing({ name, uid }: Identity): Failing | undefined {
    const known = this.#byName.get(name);
    return known?.uid === uid ? known : undefined;
  }
}
