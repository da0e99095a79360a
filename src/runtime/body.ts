import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { createFirstJsonScanner } from '../kubernetes/index.ts';

/** How long the end of a response is waited for after its first JSON value, in ms: Cluster API does not wait for it. */
const graceMs = 100;

/** The body of a response without its gzip: Cluster API's client asks for it, and undoes it. */
export function unpacked(body: Readable, encoding: string | string[] | undefined): Readable {
  if (String(encoding).toLowerCase() !== 'gzip') {
    return body;
  }
  // An error of either ends both, and reaches the reader.
  return pipeline(body, createGunzip(), () => {});
}

/**
 * A response up to the end of its first JSON value, which is all that Cluster API reads, or to its own end; undefined
 * when it is longer than `limit`, in bytes. What comes with the value is read along, so that the connection can be kept.
 */
export async function readFirstValue(body: Readable, limit: number): Promise<Buffer | undefined> {
  const scanner = createFirstJsonScanner();
  const chunks: Buffer[] = [];
  let length = 0;
  let grace: NodeJS.Timeout | undefined;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > limit) {
        // Leaving the loop destroys the stream, and with it the connection.
        return scanner.hasEnded ? Buffer.concat(chunks) : undefined;
      }
      chunks.push(chunk);
      if (grace === undefined && scanner.scan(chunk) !== undefined) {
        grace = setTimeout(() => body.destroy(), graceMs);
      }
    }
  } catch (error) {
    if (!scanner.hasEnded) {
      throw error;
    }
  } finally {
    clearTimeout(grace);
  }
  return Buffer.concat(chunks, length);
}

/**
 * The beginning of an error response; that much of it as arrives. Its status code says more than why it ended early.
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
    // The server closed the connection, or the time is over.
  }
  return Buffer.concat(chunks).subarray(0, limit);
}
