/** Maximum number of bytes of bodies and responses in memory. */
const maxInFlight = 256 * 1024 * 1024;

export class InFlight {
  #bytes = 0;

  /** Reserves bytes. @returns false when there are not enough left. */
  reserve(bytes: number): boolean {
    // A single response may exceed the maximum if it is the only one.
    const fits = this.#bytes === 0 || this.#bytes + bytes <= maxInFlight;
    this.#bytes += fits ? bytes : 0;
    return fits;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }
}
