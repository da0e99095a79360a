/** The maximum number of bytes in memory, and the current number. */
export interface ByteBudget {
  held(): number;
  /** Whether there is room for more bytes of a connection that already has `own` bytes in memory. */
  fits(bytes: number, own: number): boolean;
  take(bytes: number): void;
  release(bytes: number): void;
}

/**
 * Bodies up to this size may also use a reserve, so that large bodies cannot crowd out ordinary reviews (some 4 KiB).
 */
const smallBytes = 64 * 1024;
/** Size of the reserve, as a share of the maximum. */
const reserveShare = 0.25;

/** A budget of bytes. A single request always fits, whatever its size. */
export function createByteBudget(maxBytes: number): ByteBudget {
  const withReserve = maxBytes * (1 + reserveShare);
  let held = 0;
  return {
    held: () => held,
    fits: (bytes, own) => held === own || held + bytes <= (own + bytes <= smallBytes ? withReserve : maxBytes),
    take(bytes) {
      held += bytes;
    },
    release(bytes) {
      held -= bytes;
    },
  };
}
