/** How many bytes may be in memory at a time, and how many are. */
export interface ByteBudget {
  held(): number;
  /** Whether there is room for more bytes of a connection that already has some in memory. */
  fits(bytes: number, own: number): boolean;
  take(bytes: number): void;
  release(bytes: number): void;
}

/**
 * Bodies of up to this size may also use a reserve, so that large ones cannot crowd out ordinary reviews (some 4 KiB).
 */
const smallBytes = 64 * 1024;
/** The reserve, in shares of the maximum. */
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
