/** Maximum number of bytes of bodies and answers that are held at one time, in this process. */
const maxInFlight = 256 * 1024 * 1024;
let inFlight = 0;

/** Takes bytes from what may be held. @returns false when there are not as many left. */
export function takeBytes(bytes: number): boolean {
  // One answer may be larger than all that may be held; it must only be alone.
  if (inFlight > 0 && inFlight + bytes > maxInFlight) {
    return false;
  }
  inFlight += bytes;
  return true;
}

/** Gives back what was taken. */
export function giveBytes(bytes: number): void {
  inFlight -= bytes;
}
