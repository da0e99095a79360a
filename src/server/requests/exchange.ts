import { Buffer } from 'node:buffer';
import type { ServerHttp2Stream } from 'node:http2';
import type { Connection, OpenExchange } from '../connections/connection.ts';
import type { Connections } from '../connections/connections.ts';
import { collectBody, type HttpRequest, headerRefusal, isTrickling, type Wanted } from './body.ts';
import { type Answer, lateMessage, type Refusal, refusalHeaders, statusOf } from './refusal.ts';

/** What their responses have in common. */
export interface HttpResponse {
  /** Only over HTTP/2. */
  readonly stream?: ServerHttp2Stream;
  writeHead(code: number, headers: string[]): unknown;
  write(text: string): unknown;
  end(text?: string): unknown;
  writeContinue(): void;
  on(event: 'close', listener: () => void): unknown;
}

/** The codes with which HTTP/2 streams are closed (RFC 9113, 7). */
const http2Codes = { noError: 0, cancel: 8 };

/** One request with its response, in any HTTP version. */
export class Exchange implements OpenExchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly connection: Connection;
  readonly startedMs = performance.now();
  respondingSince: number | undefined;
  isReset = false;
  heldBytes = 0;
  readonly #connections: Connections;
  #isOver = false;
  #gone: AbortController | undefined;

  constructor(request: HttpRequest, response: HttpResponse, connection: Connection, connections: Connections) {
    this.request = request;
    this.response = response;
    this.connection = connection;
    this.#connections = connections;
  }

  get hasArrived(): boolean {
    return this.request.complete;
  }

  get isDeciding(): boolean {
    return this.hasArrived && this.respondingSince === undefined;
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

  /** Whether the client has disconnected before its response. */
  get isGone(): boolean {
    return this.#isOver && this.respondingSince === undefined;
  }

  /** Whether there is a client, and no response yet: the server refuses a request that arrives too late by itself. */
  get #mayRespond(): boolean {
    return !this.#isOver && this.respondingSince === undefined;
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
   * The body, or why it is not read; then the request is to be refused. The promise stays pending when the client
   * disconnects. The time is limited by the server.
   */
  readBody(wanted: Wanted): Promise<Buffer | Refusal> {
    const { maxBodyBytes } = this.#connections.limits;
    const refusal = headerRefusal(this.request, maxBodyBytes, wanted);
    if (refusal !== undefined) {
      return Promise.resolve(refusal);
    }
    if (this.request.headers.expect !== undefined) {
      this.response.writeContinue();
    }
    return collectBody(this, maxBodyBytes);
  }

  /** Reserves bytes until the response has been sent; false when there is no room for them, or the client has gone. */
  hold(bytes: number): boolean {
    return !this.#isOver && this.#connections.holdBody(this, bytes);
  }

  /**
   * Sends a JSON text, which counts against the limits until the client has read it; nothing if the client has gone, or the
   * request was refused in the meantime. While the server drains, each response closes its connection.
   */
  respond({ code, text }: Answer): void {
    if (!this.#mayRespond) {
      return;
    }
    const bytes = Buffer.byteLength(text);
    this.#begin(bytes);
    const isLast = this.#connections.isDraining;
    this.#writeHead(code, bytes, isLast, refusalHeaders.get(code));
    this.response.end(text);
    if (isLast && this.connection.session !== undefined) {
      this.#connections.close(this.connection);
    }
  }

  /**
   * Refuses a request, and counts the refusal; `answer` is what to send. If the request has not arrived completely, over
   * HTTP/1.1 the connection ends: the response is sent at once, but what the client still sends is discarded for a while
   * before, since closing a socket with unread data resets it, and the reset overtakes the response. Over HTTP/2 the client
   * is told to stop sending, and the connection stays open.
   */
  refuse(refusal: Refusal, { code, text } = statusOf(refusal)): void {
    if (!this.#mayRespond) {
      return;
    }
    this.#connections.events.refused(refusal.code);
    // The part of the body that was read is not kept.
    this.#begin(0);
    const { request, response } = this;
    const isLast = !request.complete || this.#connections.isDraining;
    this.#writeHead(code, Buffer.byteLength(text), isLast, refusalHeaders.get(refusal.code));
    const { stream } = response;
    if (request.complete) {
      response.end(text);
    } else if (stream === undefined) {
      response.write(text);
      this.#endAfterBody();
    } else {
      response.end(text);
      // Only after a whole response (RFC 9113, 8.1), whose last frame is sent in the turn in which the stream finishes:
      // a reset in that turn overtakes it, and clients take the response for cut off, or wait for its end.
      stream.once('finish', () => setImmediate(() => stream.close(http2Codes.noError)));
    }
  }

  refuseLate(): void {
    this.refuse({ code: 408, message: lateMessage });
  }

  reset(): void {
    this.isReset = true;
    (this.response.stream as ServerHttp2Stream).close(http2Codes.cancel);
  }

  end(): void {
    this.#isOver = true;
    if (this.isGone) {
      this.#gone?.abort();
    }
  }

  #begin(bytes: number): void {
    this.respondingSince = performance.now();
    this.#connections.holdResponse(this, bytes);
  }

  #writeHead(code: number, bytes: number, isLast: boolean, more: readonly string[] = []): void {
    const headers = ['content-type', 'application/json', 'content-length', String(bytes), ...more];
    if (isLast && this.response.stream === undefined) {
      headers.push('connection', 'close');
    }
    this.response.writeHead(code, headers);
  }

  /** Ends the response after the rest of the request, but reads no more of it than a body may have. */
  #endAfterBody(): void {
    const { request, response } = this;
    const { maxBodyBytes } = this.#connections.limits;
    let bytes = 0;
    let pieces = 0;
    request.on('data', (chunk) => {
      bytes += chunk.length;
      this.connection.bodyBytes += chunk.length;
      pieces++;
      if (isTrickling(pieces, bytes)) {
        // Otherwise all that is left in the socket's buffer, megabytes of it, would be read before the connection closes.
        request.pause();
        response.end();
      } else if (bytes > maxBodyBytes) {
        response.end();
      }
    });
    request.on('end', () => response.end());
    request.on('error', () => response.end());
  }
}

/** The exchange of a request that has arrived; undefined if its client has disconnected. */
export function beginExchange(
  request: HttpRequest,
  response: HttpResponse,
  connections: Connections,
): Exchange | undefined {
  const connection = connections.of(response.stream === undefined ? request.socket : response.stream.session);
  if (connection === undefined) {
    return undefined;
  }
  const exchange = new Exchange(request, response, connection, connections);
  connections.begin(exchange);
  response.on('close', () => connections.end(exchange));
  return exchange;
}

/** Responds to a request. It is called when the header has arrived. If it throws an error, the response is a 500. */
export type Handler = (exchange: Exchange) => void | Promise<void>;
