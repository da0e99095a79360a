import { Buffer } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Connections } from './connections.ts';
import { type Answer, type Refusal, readingMs, refusalHeaders, statusOf } from './refusal.ts';

const jsonContentType = /^application\/json\s*(;|$)/i;

/** Which requests are read: only POSTs with the content type JSON, or any. */
export type Wanted = 'posted JSON' | 'any request';

const tooLarge = (maxBytes: number): Refusal => ({
  code: 413,
  message: `the body must not be larger than ${maxBytes} bytes`,
});

const noRoom: Refusal = {
  code: 503,
  message: 'too many bytes of other requests are in flight: try again in a second',
};

/** Why the body of a request is not to be read, judging by its headers; undefined if it may be read. */
function headerRefusal(
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  maxBytes: number,
  wanted: Wanted,
): Refusal | undefined {
  if (wanted === 'posted JSON') {
    if (method !== 'POST') {
      return { code: 405, message: `${method} is not supported here: use POST` };
    }
    const type = headers['content-type'] ?? '';
    if (type !== 'application/json' && !jsonContentType.test(type)) {
      return { code: 415, message: 'the content type must be application/json' };
    }
  }
  const { 'content-encoding': encoding, 'transfer-encoding': coding, 'content-length': length } = headers;
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return { code: 415, message: 'the body must not be compressed: omit Content-Encoding' };
  }
  // Node undoes chunks, and no other coding (RFC 9112, 6.1).
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return { code: 501, message: 'the only Transfer-Encoding supported is chunked' };
  }
  return Number(length ?? 0) > maxBytes ? tooLarge(maxBytes) : undefined;
}

/** Number of pieces in which any body may arrive. */
const freePieces = 4096;
/** Bytes that each further piece of a body must have on average. */
const averageBytes = 64;

/**
 * Whether a body arrives in more pieces than its bytes justify: chunks of one byte take a thousand times as long to read as
 * the same bytes at once, and would keep others waiting. Go's servers limit the overhead of chunks, too.
 */
function isTrickling(pieces: number, bytes: number): boolean {
  return pieces > freePieces + bytes / averageBytes;
}

/**
 * How many copies of a response are in memory: encryption makes a second one before the first byte is sent (node:tls
 * passes all of it to OpenSSL at once).
 */
const copiesOfResponse = 2;

/** The address of a client; of IPv4 as such, which a server on all interfaces has as IPv6. Undefined once it has disconnected. */
export function clientOf({ remoteAddress }: { remoteAddress?: string | undefined }): string | undefined {
  return remoteAddress?.replace(/^::ffff:/, '');
}

/** One request with its response. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** When the header of the request had arrived, by `performance.now`. */
  readonly startedMs = performance.now();
  readonly #connections: Connections;
  readonly #logBug: (error: unknown, path: string) => void;
  /** Bytes in memory for it: its body, then its response. */
  #held = 0;
  #isOver = false;
  #gone: AbortController | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connections: Connections,
    logBug: (error: unknown, path: string) => void,
  ) {
    this.request = request;
    this.response = response;
    this.#connections = connections;
    this.#logBug = logBug;
  }

  /** The path of the request, without its query. */
  get path(): string {
    const url = this.request.url as string;
    const mark = url.indexOf('?');
    return mark === -1 ? url : url.slice(0, mark);
  }

  /** What follows the first question mark of its URL. */
  get query(): string {
    return (this.request.url as string).slice(this.path.length + 1);
  }

  /** The address of its client; undefined when that has disconnected. */
  get client(): string | undefined {
    return clientOf(this.request.socket);
  }

  /** Whether the client has disconnected before its response. */
  get isGone(): boolean {
    return this.#isOver && !this.response.headersSent;
  }

  /** Aborted when the client disconnects before its response. */
  get gone(): AbortSignal {
    // Created on first use, since few requests take long enough to need it.
    this.#gone ??= new AbortController();
    if (this.isGone) {
      this.#gone.abort();
    }
    return this.#gone.signal;
  }

  /**
   * Reads the body, and passes it on, or why it is not read: then the request is to be refused. `use` is not called when
   * the client disconnects. The time is limited by the server. A callback, since promises are a share of a short review.
   */
  readBody(wanted: Wanted, use: (body: Buffer | Refusal) => void | Promise<void>): void {
    const { request, response } = this;
    const { maxBodyBytes } = this.#connections.limits;
    const refusal = headerRefusal(request, maxBodyBytes, wanted);
    if (refusal !== undefined) {
      this.attempt(() => use(refusal));
      return;
    }
    if (request.headers.expect !== undefined && request.httpVersion !== '1.0') {
      response.writeContinue();
    }
    let pieces: Buffer[] = [];
    let length = 0;
    const refuse = (reason: Refusal) => {
      request.off('data', take).off('end', end);
      pieces = [];
      this.attempt(() => use(reason));
    };
    const take = (piece: Buffer) => {
      length += piece.length;
      pieces.push(piece);
      if (isTrickling(pieces.length, length)) {
        const average = Math.round(length / pieces.length);
        refuse({
          code: 400,
          message: `the body arrives in too many small pieces, ${pieces.length} of ${average} bytes on average: send at least ${averageBytes} bytes at a time`,
        });
      } else if (length > maxBodyBytes) {
        refuse(tooLarge(maxBodyBytes));
      } else if (!this.#hold(piece.length)) {
        refuse(noRoom);
      }
    };
    const end = () => {
      const body = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, length);
      // The listeners live until the client has read the response.
      pieces = [];
      this.attempt(() => use(body));
    };
    request.on('data', take);
    request.on('end', end);
  }

  /** Runs a step of the handler. An error is a bug, which must not end the process, and with it all other requests. */
  attempt(step: () => void | Promise<void>): void {
    try {
      step()?.catch((error: unknown) => this.#fail(error));
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * Sends a JSON text, which counts against the limits until the client has read it; nothing if the client has gone, or the
   * request was refused in the meantime. While the server drains, each response closes its connection.
   */
  respond({ code, text }: Answer): void {
    if (this.#isOver || this.response.headersSent) {
      return;
    }
    const bytes = Buffer.byteLength(text);
    this.#keep(copiesOfResponse * bytes);
    this.#writeHead(code, bytes, this.#connections.isDraining);
    this.response.end(text);
  }

  /**
   * Refuses a request, and counts the refusal; `answer` is what to send. If the request has not arrived completely, the
   * connection ends: the response is sent at once, but what the client still sends is discarded for a while before, since
   * closing a socket with unread data resets it, and the reset overtakes the response.
   */
  refuse(refusal: Refusal, { code, text } = statusOf(refusal)): void {
    const { request, response } = this;
    if (this.#isOver || response.headersSent) {
      return;
    }
    this.#connections.events.refused(refusal, this.client);
    // The part of the body that was read is not kept.
    this.#keep(0);
    const isLast = !request.complete || this.#connections.isDraining;
    this.#writeHead(code, Buffer.byteLength(text), isLast, refusalHeaders.get(refusal.code));
    if (request.complete) {
      response.end(text);
      return;
    }
    response.write(text);
    const end = () => response.end();
    request.resume().once('end', end).once('error', end);
    setTimeout(end, readingMs).unref();
  }

  /** The response has been sent, or the client has disconnected. */
  end(): void {
    this.#isOver = true;
    this.#keep(0);
    if (this.isGone) {
      this.#gone?.abort();
    }
  }

  #fail(error: unknown): void {
    this.refuse({ code: 500, message: 'internal error; see the log of the server' });
    this.#logBug(error, this.path);
  }

  /** Reserves more bytes; false when there is no room for them, or the client has gone. */
  #hold(bytes: number): boolean {
    if (this.#isOver || !this.#connections.fits(bytes, this.#held)) {
      return false;
    }
    this.#keep(this.#held + bytes);
    return true;
  }

  /** Holds this number of bytes from now on. */
  #keep(bytes: number): void {
    this.#connections.bytesHeld += bytes - this.#held;
    this.#held = bytes;
  }

  #writeHead(code: number, bytes: number, isLast: boolean, more: readonly string[] = []): void {
    const headers = ['content-type', 'application/json', 'content-length', String(bytes)];
    headers.push(...more);
    if (isLast) {
      headers.push('connection', 'close');
    }
    this.response.writeHead(code, headers);
  }
}

/** Responds to a request. It is called when the header has arrived. If it throws an error, the response is a 500. */
export type Handler = (exchange: Exchange) => void | Promise<void>;
