import { pipeline, type Readable, Transform } from 'node:stream';
import { constants, createGunzip } from 'node:zlib';
import { createFirstJsonScanner } from '../../../kubernetes/index.ts';

/** How long to wait for the end of a response after its first JSON value, in ms: Cluster API does not wait for it. */
const graceMs = 100;

/** Length of the end of a gzip member, with the checksum, in bytes (RFC 1952, 2.3.1). */
const trailerBytes = 8;

/**
 * How much more a server may send than what it unpacks to, in bytes: gzip never makes a text longer by more than a
 * thousandth, but empty members, empty blocks and long names unpack to nothing.
 */
const maxUselessBytes = 256 * 1024;

/** The decompressed body of a response: Cluster API's client requests gzip, and decompresses it. */
export function unpacked(body: Readable, encoding: string | string[] | undefined): Readable {
  if (String(encoding).toLowerCase() !== 'gzip') {
    return body;
  }
  let [packed, plain] = [0, 0];
  // Splits off the end of each chunk: zlib drops what it decompressed of a chunk in which it finds an error, but Go has
  // read the JSON value before it comes to a wrong checksum.
  const trailersApart = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      packed += chunk.length;
      if (packed - plain > maxUselessBytes) {
        done(Object.assign(new Error('it unpacks to nothing'), { code: 'Z_DATA_ERROR' }));
        return;
      }
      if (chunk.length > trailerBytes) {
        this.push(chunk.subarray(0, -trailerBytes));
      }
      done(null, chunk.subarray(-trailerBytes));
    },
  });
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      plain += chunk.length;
      done(null, chunk);
    },
  });
  // An error of one stream ends all, and reaches the reader.
  // An early end is not an error here: if the JSON is incomplete, parsing it fails.
  return pipeline(body, trailersApart, createGunzip({ finishFlush: constants.Z_SYNC_FLUSH }), counted, () => {});
}

/** Initial size of the buffer, in bytes: larger than most answers. */
const firstRoom = 16 * 1024;

/**
 * Collects the chunks of a body in one buffer, which doubles when it is full. A list of chunks would take some 30 times
 * their size if a server sends single bytes.
 */
function createGathered(limit: number): { add(piece: Buffer): void; bytes(): Buffer } {
  let room = Buffer.allocUnsafeSlow(Math.min(firstRoom, limit));
  let length = 0;
  return {
    add(piece) {
      if (length + piece.length > room.length) {
        const larger = Buffer.allocUnsafeSlow(Math.min(Math.max(2 * room.length, length + piece.length), limit));
        room.copy(larger, 0, 0, length);
        room = larger;
      }
      length += piece.copy(room, length);
    },
    bytes: () => room.subarray(0, length),
  };
}

/**
 * Reads a response up to the end of its first JSON value, which is all that Cluster API reads, or to its own end;
 * undefined if it is longer than `limit`, in bytes. What arrives together with the value is read, so that the
 * connection can be reused.
 */
export async function readFirstValue(body: Readable, limit: number): Promise<Buffer | undefined> {
  const scanner = createFirstJsonScanner();
  const gathered = createGathered(limit);
  let length = 0;
  let grace: NodeJS.Timeout | undefined;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > limit) {
        // Leaving the loop destroys the stream, and with it the connection.
        return scanner.hasEnded ? gathered.bytes() : undefined;
      }
      gathered.add(chunk);
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
  return gathered.bytes();
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
