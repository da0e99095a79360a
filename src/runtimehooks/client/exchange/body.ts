import { pipeline, type Readable } from 'node:stream';
import { constants, createGunzip } from 'node:zlib';

/** The decompressed body of a response: Cluster API's client requests gzip, and decompresses it. */
export function unpacked(body: Readable, encoding: string | string[] | undefined): Readable {
  return String(encoding).toLowerCase() === 'gzip'
    ? // An early end is not an error here: if the JSON is incomplete, parsing it fails. Others reach the reader. Chunks of
      // Node's size, 16 KiB, take twice the CPU time.
      pipeline(body, createGunzip({ chunkSize: 64 * 1024, finishFlush: constants.Z_SYNC_FLUSH }), () => {})
    : body;
}

/**
 * The beginning of an error response, as much as arrives. Its status code says more than the reason why it ended early.
 */
export async function readBeginning(body: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= limit) {
        break;
      }
    }
  } catch {
    // The server closed the connection, or time ran out.
  }
  return Buffer.concat(chunks).subarray(0, limit);
}
