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

/** Initial size of the buffer, in bytes: larger than most answers. */
const firstRoom = 16 * 1024;

/**
 * Reads a response to its end; undefined if it is longer than `limit`, in bytes. Its chunks are collected in one buffer,
 * which doubles when it is full: a list of chunks would take some 30 times their size if a server sends single bytes.
 */
export async function readBody(body: Readable, limit: number): Promise<Buffer | undefined> {
  let room = Buffer.allocUnsafeSlow(Math.min(firstRoom, limit));
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    const needed = length + chunk.length;
    if (needed > limit) {
      // Leaving the loop destroys the stream, and with it the connection.
      return undefined;
    }
    if (needed > room.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(Math.max(2 * room.length, needed), limit));
      room.copy(larger, 0, 0, length);
      room = larger;
    }
    length += chunk.copy(room, length);
  }
  return room.subarray(0, length);
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
