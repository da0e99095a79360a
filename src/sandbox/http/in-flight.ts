/** Maximum number of bytes of bodies and responses in memory, in this process. */
const maxInFlight = 256 * 1024 * 1024;
let inFlight = 0;

/** Reserves bytes. @returns false when there are not enough left. */
export function reserveBytes(bytes: number): boolean {
  // A single response may exceed the maximum if it is the only one.
  if (inFlight > 0 && inFlight + bytes > maxInFlight) {
    return false;
  }
  inFlight += bytes;
  return true;
}

/** Releases reserved bytes. */
export function releaseBytes(bytes: number): void {
  inFlight -= bytes;
}
