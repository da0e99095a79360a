import type { Http2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/**
 * The slowest progress at which a request or response is not considered stalled. Low, since a server that parses large
 * bodies gets round to each connection only now and then.
 */
const leastBytesPerMs = 32;

/** Bytes besides bodies that a connection may send: its TLS handshake, and what is in transit when a request is refused. */
const freeBytes = 4 * 1024 * 1024;
/** The same for each request. */
const freeBytesPerRequest = 64 * 1024;

/** A request and its response, as their connection sees them. */
export interface OpenExchange {
  readonly connection: Connection;
  /** When the header of the request had arrived, by `performance.now`. */
  readonly startedMs: number;
  /** Whether all of the request has arrived. */
  readonly hasArrived: boolean;
  /** When the response began. */
  readonly respondingSince: number | undefined;
  /** Whether the request has arrived completely, and there is no response yet. */
  readonly isDeciding: boolean;
  /** Whether its HTTP/2 stream was reset. */
  readonly isReset: boolean;
  /** Bytes in memory for it: its body, then its response. */
  heldBytes: number;
  /** Responds to a request over HTTP/2 that did not arrive in time. */
  refuseLate(): void;
  /** Gives up a request over HTTP/2, without its connection. */
  reset(): void;
  /** The response has been sent, or the client has disconnected. */
  end(): void;
}

/** One connection of a server. */
export class Connection {
  /** The TCP socket; with TLS, the one underneath. */
  readonly transport: Socket;
  /** The TLS socket on it, once its handshake is complete. */
  tls: TLSSocket | undefined;
  /** The HTTP/2 session; undefined for HTTP/1.1. */
  session: Http2Session | undefined;
  /** Why its client may not call; undefined if it may. */
  refusal: string | undefined;
  /** Requests being read or answered, the oldest first: several when pipelined, or over HTTP/2. */
  readonly exchanges = new Set<OpenExchange>();
  /** When it arrived, became idle, or got or answered a request. */
  since = performance.now();
  /** When GOAWAY was sent (HTTP/2). */
  leavingSince: number | undefined;
  /** The set of `Connections` that it is in. */
  state: Set<Connection>;
  /** Number of requests so far, and bytes of their bodies. */
  requestCount = 0;
  bodyBytes = 0;
  #progress: { bytes: number; at: number } | undefined;

  constructor(transport: Socket, state: Set<Connection>) {
    this.transport = transport;
    this.state = state;
  }

  /** Moves it to another set, in which it is the newest. */
  moveTo(state: Set<Connection>): void {
    this.state.delete(this);
    this.state = state;
    this.since = performance.now();
    this.#progress = undefined;
    state.add(this);
  }

  /** Records the progress of its requests, unless that was recorded before. */
  markProgress(): void {
    this.#progress ??= this.#current();
  }

  /**
   * Whether its requests and responses make too little progress. Their total time does not count: that may be the server's
   * fault. Nor is the client to blame while a request is being decided.
   */
  isStalled(timeoutMs: number): boolean {
    if ([...this.exchanges].some(({ isDeciding }) => isDeciding)) {
      return false;
    }
    const before = this.#progress;
    const now = this.#current();
    if (before !== undefined && now.at - before.at < timeoutMs) {
      return false;
    }
    this.#progress = now;
    return before !== undefined && now.bytes - before.bytes < (now.at - before.at) * leastBytesPerMs;
  }

  /** Whether most of what it sent is neither header nor body: the padding of HTTP/2 frames, empty frames, pings. */
  isWasteful(): boolean {
    return this.transport.bytesRead > freeBytes + 2 * this.bodyBytes + this.requestCount * freeBytesPerRequest;
  }

  #current() {
    return { bytes: this.transport.bytesRead + this.transport.bytesWritten, at: performance.now() };
  }
}
