import type { IncomingMessage } from 'node:http';

/** Why a body is not read at all: an HTTP status code and a sentence. */
export interface BodyRefusal {
  code: 405 | 413 | 415;
  message: string;
}

const jsonContentType = /^application\/json\s*(;|$)/i;

/** What the header of a request says against reading its body, or undefined. */
export function headerRefusal(request: IncomingMessage, maxBytes: number): BodyRefusal | undefined {
  if (request.method !== 'POST') {
    return { code: 405, message: `${request.method} is not supported here: use POST` };
  }
  const type = request.headers['content-type'];
  if (type !== 'application/json' && (type === undefined || !jsonContentType.test(type))) {
    return { code: 415, message: 'the content type must be application/json' };
  }
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return { code: 415, message: 'the body must not be compressed: leave content-encoding out' };
  }
  const length = request.headers['content-length'];
  return length !== undefined && Number(length) > maxBytes ? tooLarge(maxBytes) : undefined;
}

function tooLarge(maxBytes: number): BodyRefusal {
  return { code: 413, message: `the body must not be larger than ${maxBytes} bytes` };
}

/**
 * Collects a body and calls exactly one of the two, or none when the caller goes away. Time is bounded by the server's
 * requestTimeout, not here: a timer a request would cost more than the rest of this function.
 */
export function collectBody(
  request: IncomingMessage,
  maxBytes: number,
  onBody: (body: Buffer) => void,
  onRefusal: (refusal: BodyRefusal) => void,
): void {
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  let length = 0;
  function take(chunk: Buffer): void {
    length += chunk.length;
    if (length > maxBytes) {
      request.off('data', take);
      request.off('end', end);
      first = undefined;
      rest = undefined;
      onRefusal(tooLarge(maxBytes));
    } else if (first === undefined) {
      first = chunk;
    } else {
      rest ??= [first];
      rest.push(chunk);
    }
  }
  function end(): void {
    onBody(rest !== undefined ? Buffer.concat(rest, length) : (first ?? Buffer.alloc(0)));
  }
  request.on('data', take);
  request.on('end', end);
}
