import type { IncomingHttpHeaders } from 'node:http';
import type { Connection } from '../connections/connection.ts';
import type { Refusal } from './refusal.ts';

/** What the requests of Node's two HTTP modules have in common. */
export interface HttpRequest {
  readonly httpVersion: string;
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Whether all of it has arrived. */
  readonly complete: boolean;
  readonly socket: object;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end' | 'error', listener: () => void): unknown;
  off(event: 'data', listener: (chunk: Buffer) => void): unknown;
  off(event: 'end', listener: () => void): unknown;
  /** Stops reading, also from the connection over HTTP/1.1. */
  pause(): unknown;
}

const jsonContentType = /^application\/json\s*(;|$)/i;

/** Which requests are read: only POSTs with the content type JSON, or any. */
export type Wanted = 'posted JSON' | 'any request';

/** Why the body of a request is not to be read, judging by its headers; undefined if it may be read. */
export function headerRefusal(
  { method, headers }: Pick<HttpRequest, 'method' | 'headers'>,
  maxBytes: number,
  wanted: Wanted,
): Refusal | undefined {
  if (wanted === 'posted JSON') {
    if (method !== 'POST') {
      return { code: 405, message: `${method} is not supported here: use POST` };
    }
    if (!jsonContentType.test(String(headers['content-type']))) {
      return { code: 415, message: 'the content type must be application/json' };
    }
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    return { code: 415, message: 'the body must not be compressed: omit Content-Encoding' };
  }
  return Number(headers['content-length'] ?? 0) > maxBytes ? tooLarge(maxBytes) : undefined;
}

const tooLarge = (maxBytes: number): Refusal => ({
  code: 413,
  message: `the body must not be larger than ${maxBytes} bytes`,
});

const noRoom: Refusal = {
  code: 503,
  message: 'too many bytes of other requests are in flight: try again in a second',
};

/** Number of pieces in which any body may arrive. */
const freePieces = 4096;
/** Bytes that each further piece of a body must have on average. */
const averageBytes = 64;

/**
 * Whether a body arrives in more pieces than its bytes justify: chunks of one byte take a thousand times as long to read as
 * the same bytes at once, and would keep others waiting. Go's servers limit the overhead of chunks, too.
 */
export function isTrickling(pieces: number, bytes: number): boolean {
  return pieces > freePieces + bytes / averageBytes;
}

function trickle(pieces: number, bytes: number): Refusal {
  const average = Math.round(bytes / pieces);
  return {
    code: 400,
    message: `the body arrives in too many small pieces, ${pieces} of ${average} bytes on average: send at least ${averageBytes} bytes at a time`,
  };
}

const noBytes: Buffer = Buffer.alloc(0);
/** Size of the first buffer for a body of unknown length: larger than an ordinary review. */
const firstBytes = 16 * 1024;

interface Incoming {
  readonly request: HttpRequest;
  readonly connection: Connection;
  /** Reserves bytes before they are kept; false when there is no room for them. */
  hold(bytes: number): boolean;
}

/** Collects a body, or says why it cannot; stays pending when the client disconnects. */
export function collectBody(incoming: Incoming, maxBytes: number): Promise<Buffer | Refusal> {
  const { request, connection } = incoming;
  const { promise, resolve } = Promise.withResolvers<Buffer | Refusal>();
  // Node refuses requests whose content-length is not a number, and bodies longer than it.
  const declared = request.headers['content-length'];
  const expected = declared === undefined ? undefined : Number(declared);
  if (expected !== undefined && !incoming.hold(expected)) {
    resolve(noRoom);
    return promise;
  }
  // A single buffer: keeping the chunks as they arrive would take some hundred bytes for each, however small.
  let body = noBytes;
  let length = 0;
  let pieces = 0;
  function finish(result: Buffer | Refusal): void {
    // Listeners live as long as the request, and keep the body until the client has read the response.
    request.off('data', take);
    request.off('end', end);
    resolve(result);
  }
  function take(chunk: Buffer): void {
    pieces++;
    connection.bodyBytes += chunk.length;
    if (isTrickling(pieces, length)) {
      finish(trickle(pieces, length));
    } else if (length + chunk.length > maxBytes) {
      finish(tooLarge(maxBytes));
    } else if (expected === undefined && !incoming.hold(chunk.length)) {
      finish(noRoom);
    } else {
      append(chunk);
    }
  }
  function append(chunk: Buffer): void {
    if (chunk.length === expected) {
      body = chunk;
    } else {
      if (length + chunk.length > body.length) {
        const larger = Buffer.allocUnsafeSlow(expected ?? Math.max(firstBytes, 2 * (length + chunk.length)));
        body.copy(larger, 0, 0, length);
        body = larger;
      }
      chunk.copy(body, length);
    }
    length += chunk.length;
  }
  const end = () => finish(body.subarray(0, length));
  request.on('data', take);
  request.on('end', end);
  return promise;
}
