/**
 * The bytes of the first JSON value in a text: Go's decoder reads that one and leaves the rest alone. The value itself is
 * not checked; bytes that are none end where the text does.
 */
export function firstJsonValue(bytes: Buffer): Buffer {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (isInString) {
      if (byte === 0x5c) {
        at++;
      } else if (byte === 0x22) {
        isInString = false;
      }
    } else if (byte === 0x22) {
      isInString = true;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth++;
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--;
      if (depth <= 0) {
        return bytes.subarray(0, at + 1);
      }
    }
  }
  return bytes;
}
