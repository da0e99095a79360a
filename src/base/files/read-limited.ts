import { Buffer } from 'node:buffer';

/** A whole stream of at most `maxBytes`; undefined for a longer one, which is destroyed, and with it its connection. */
export async function readLimited(
  stream: AsyncIterable<Uint8Array | string>,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    length += bytes.length;
    if (length > maxBytes) {
      return undefined;
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks, length);
}
