import type { JsonObject } from '../kubernetes/index.ts';
import { type LeaseSpec, specOf } from './lease.ts';

/** The Lease as last seen, and since when its spec is as it is: what others renew is told from what they left. */
export class SeenLease {
  readonly #monotonicMs: () => number;
  #seen: { lease: JsonObject; text: string; at: number } | undefined;

  /** @param monotonicMs milliseconds of a monotonic clock; the times in the Lease are of other clocks. */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Undefined before it was seen. */
  get lease(): JsonObject | undefined {
    return this.#seen?.lease;
  }

  /** Takes note of the Lease; returns its spec. */
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

  /** Whether another one holds the Lease, and has renewed it within its duration as far as was seen here. */
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
