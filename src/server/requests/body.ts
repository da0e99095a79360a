import type { TrackedRequest } from '../connections/tracked.ts';

/** Why a body is not read at all: an HTTP status code and a sentence. */
export interface BodyRefusal {
  code: 400 | 405 | 413 | 415 | 503;
  message: string;
}

const jsonContentType = /^application\/json\s*(;|$)/i;

/** Which requests are read: only POSTs with the content type JSON, or any. */
export type Wanted = 'posted JSON' | 'any request';

/** Why the body of a request is not to be read, judging by its headers; undefined if it may be read. */
export function headerRefusal(request: TrackedRequest, maxBytes: number, wanted: Wanted): BodyRefusal | undefined {
  return (wanted === 'posted JSON' ? formRefusal(request) : undefined) ?? contentRefusal(request, maxBytes);
}

function formRefusal(request: TrackedRequest): BodyRefusal | undefined {
  if (request.method !== 'POST') {
    return { code: 405, message: `${request.method} is not supported here: use POST` };
  }
  const type = request.headers['content-type'];
  if (type !== 'application/json' && (type === undefined || !jsonContentType.test(type))) {
    return { code: 415, message: 'the content type must be application/json' };
  }
  return undefined;
}

function contentRefusal(request: TrackedRequest, maxBytes: number): BodyRefusal | undefined {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return { code: 415, message: 'the body must not be compressed: omit Content-Encoding' };
  }
  const length = request.headers['content-length'];
  return length !== undefined && Number(length) > maxBytes ? tooLarge(maxBytes) : undefined;
}

function tooLarge(maxBytes: number): BodyRefusal {
  return { code: 413, message: `the body must not be larger than ${maxBytes} bytes` };
}

const noRoom: BodyRefusal = {
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
export function arrivesInCrumbs(pieces: number, bytes: number): boolean {
  return pieces > freePieces + bytes / averageBytes;
}

function inCrumbs(pieces: number, bytes: number): BodyRefusal {
  const average = Math.round(bytes / pieces);
  return {
    code: 400,
    message: `the body arrives in too many small pieces, ${pieces} of ${average} bytes on average: send at least ${averageBytes} bytes at a time`,
  };
}

/**
 * Collects a body and calls exactly one of the two callbacks, or neither when the client disconnects. Time is limited
 * by the server's requestTimeout, not here: a timer per request would cost more than the rest of this function.
 *
 * @param hold reserves bytes before they are kept; false when there is no room for them.
 */
export function collectBody(
  request: TrackedRequest,
  maxBytes: number,
  hold: (bytes: number) => boolean,
  onBody: (body: Buffer) => void,
  onRefusal: (refusal: BodyRefusal) => void,
): void {
  // Node refuses requests whose content-length is not a number, and bodies longer than it.
  const declared = request.headers['content-length'];
  const expected = declared === undefined ? undefined : Number(declared);
  if (expected !== undefined && !hold(expected)) {
    onRefusal(noRoom);
    return;
  }
  // A single buffer: keeping the chunks as they arrive would take some hundred bytes for each, however small.
  let body: Buffer | undefined;
  let length = 0;
  let pieces = 0;
  function refuse(refusal: BodyRefusal): void {
    request.off('data', take);
    request.off('end', end);
    body = undefined;
    onRefusal(refusal);
  }
  function take(chunk: Buffer): void {
    pieces++;
    if (arrivesInCrumbs(pieces, length)) {
      refuse(inCrumbs(pieces, length));
      return;
    }
    if (length + chunk.length > maxBytes) {
      refuse(tooLarge(maxBytes));
      return;
    }
    if (expected === undefined && !hold(chunk.length)) {
      refuse(noRoom);
      return;
    }
    if (chunk.length === expected) {
      body = chunk;
      length = expected;
      return;
    }
    if (body === undefined || length + chunk.length > body.length) {
      const larger = Buffer.allocUnsafeSlow(expected ?? Math.max(firstBytes, 2 * (length + chunk.length)));
      body?.copy(larger, 0, 0, length);
      body = larger;
    }
    chunk.copy(body, length);
    length += chunk.length;
  }
  function end(): void {
    const whole = body === undefined ? Buffer.alloc(0) : body.length === length ? body : body.subarray(0, length);
    // This closure lives as long as the request: until the client has read the response.
    body = undefined;
    onBody(whole);
  }
  request.on('data', take);
  request.on('end', end);
}

/** Size of the first buffer for a body of unknown length: larger than an ordinary review. */
const firstBytes = 16 * 1024;
