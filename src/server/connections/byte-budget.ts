/**
 * Bodies up to this size may also use a reserve, so that large bodies cannot crowd out ordinary reviews (some 4 KiB).
 */
const smallBytes = 64 * 1024;
/** Size of the reserve, as a share of the maximum. */
const reserveShare = 0.25;

/** The maximum number of bytes in memory, and the current number. A single request always fits, whatever its size. */
export class ByteBudget {
  held = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether there is room for more bytes of a request that already has `own` bytes in memory. */
  fits(bytes: number, own: number): boolean {
    const share = own + bytes <= smallBytes ? 1 + reserveShare : 1;
    return this.held === own || this.held + bytes <= this.#maxBytes * share;
  }
}
