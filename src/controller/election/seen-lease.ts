import type { JsonObject } from '../../kubernetes/index.ts';
import { type LeaseSpec, specOf } from './lease.ts';

/**
 * The Lease as last seen, and how long its spec has been unchanged: that is how a Lease that is being renewed is told
 * from one that was abandoned.
 */
export class SeenLease {
  readonly #monotonicMs: () => number;
  #seen: { lease: JsonObject; text: string; at: number } | undefined;

  /** @param monotonicMs returns milliseconds of a monotonic clock. The times in the Lease come from other clocks. */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Undefined until the Lease has been seen. */
  get lease(): JsonObject | undefined {
    return this.#seen?.lease;
  }

  /** Records the Lease, and returns its spec. */
  see(lease: JsonObject): LeaseSpec {
    // A Lease without a spec has no holder.
    const text = JSON.stringify(lease.spec ?? null);
    if (this.#seen?.text !== text) {
      this.#seen = { lease, text, at: this.#monotonicMs() };
    } else {
      this.#seen.lease = lease;
    }
    return specOf(lease);
  }

  /** Whether another candidate holds the Lease and has renewed it within its duration, by this process's clock. */
  isHeldByOther(identity: string): boolean {
    if (this.#seen === undefined) {
      return false;
    }
    const { holderIdentity, leaseDurationSeconds } = specOf(this.#seen.lease);
    return (
      holderIdentity !== '' &&
      holderIdentity !== identity &&
      this.#monotonicMs() < this.#seen.at + leaseDurationSeconds * 1000
    );
  }
}
