import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Limits } from './limits.ts';
import type { Refusal } from './refusal.ts';

/** What happens on a port, for metrics and the log. */
export interface ConnectionEvents {
  /** A connection was closed to make room for another. */
  evicted(): void;
  /** A new connection was closed on arrival: the server was full, and no other connection could be closed for it. */
  dropped(): void;
  /** A connection was closed because the client did not read a response in time. */
  responseDropped(): void;
  /** A request was refused before a decision. */
  refused(refusal: Refusal, client: string | undefined): void;
}

/** A request whose response has not been sent yet. */
interface OpenRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** When it arrived, by `performance.now`. */
  readonly startedMs: number;
  /** Called once: when the response has been sent, or the client has disconnected. */
  end(): void;
}

/** One connection of a server. */
export interface Connection {
  /** The TCP socket; with TLS, the one underneath. */
  readonly transport: Socket;
  /** Both ends: from one port a client may have connections to several addresses of this server. */
  readonly ends: string;
  /** The TLS socket on it, once its handshake is complete. */
  tls?: TLSSocket;
  /** Why its client may not call; undefined if it may. */
  refusal?: string;
  /** Several when they are pipelined. */
  readonly requests: Set<OpenRequest>;
  /** Whether it has had a request. */
  hasCalled: boolean;
  /** When it arrived, became idle or busy, or sent a response. */
  since: number;
}

/** Bodies up to this size may also use a reserve, so that large bodies cannot crowd out ordinary reviews (some 4 KiB). */
const smallBytes = 64 * 1024;
/** Size of the reserve, as a share of the maximum. */
const reserveShare = 0.25;

const endsOf = ({ remoteAddress, remotePort, localAddress }: Socket) =>
  `${remoteAddress}/${remotePort}/${localAddress}`;

const isDeciding = ({ requests }: Connection) =>
  requests.values().some(({ request, response }) => request.complete && !response.headersSent);

/**
 * The connections of a server. Node limits the time of handshakes and of requests; this does what it does not: it closes
 * idle connections when others need the room, limits the bytes in memory, and gives up responses that are never read.
 */
export class Connections {
  readonly open = new Set<Connection>();
  /** Bytes of bodies and responses in memory. */
  bytesHeld = 0;
  /** Whether each response is the last one of its connection, since the server stops. */
  isDraining = false;
  readonly limits: Limits;
  readonly events: ConnectionEvents;
  readonly #bySocket = new Map<object, Connection>();
  // Finds the TCP socket under a TLS socket without a private property of either.
  readonly #byEnds = new Map<string, Connection>();

  /** Follows the connections of a server until it closes. */
  constructor(server: Server, limits: Limits, events: ConnectionEvents) {
    this.limits = limits;
    this.events = events;
    server.on('connection', (transport: Socket) => this.#accept(transport));
    server.on('secureConnection', (socket: TLSSocket) => this.#secure(socket));
    const checking = setInterval(() => this.#endTimedOut(), limits.timeoutCheckMs).unref();
    server.once('close', () => clearInterval(checking));
  }

  /** Number of requests being read or answered. */
  get inFlight(): number {
    return [...this.open].reduce((sum, { requests }) => sum + requests.size, 0);
  }

  /** The open connection with this TCP or TLS socket. */
  of(socket: object): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  /** A request has arrived. Returns its connection; undefined if that was closed in the meantime. */
  begin(one: OpenRequest): Connection | undefined {
    const connection = this.#bySocket.get(one.request.socket);
    if (connection === undefined) {
      return undefined;
    }
    if (connection.requests.size === 0) {
      connection.hasCalled = true;
      connection.since = one.startedMs;
    }
    connection.requests.add(one);
    one.response.on('close', () => {
      if (connection.requests.delete(one)) {
        one.end();
        connection.since = performance.now();
      }
    });
    return connection;
  }

  /** Whether there is room for more bytes of a request that holds `own`. A single request always fits, whatever its size. */
  fits(bytes: number, own: number): boolean {
    const share = own + bytes <= smallBytes ? 1 + reserveShare : 1;
    return this.bytesHeld === own || this.bytesHeld + bytes <= this.limits.maxInFlightBytes * share;
  }

  /** Ends a connection after what has been written. */
  close({ tls, transport }: Connection): void {
    (tls ?? transport).destroySoon();
  }

  /** Ends a connection at once, with its requests. */
  cut(connection: Connection): void {
    this.#forget(connection);
    connection.transport.destroy();
  }

  #accept(transport: Socket): void {
    if (this.open.size >= this.limits.maxConnections) {
      const evictable = this.#connectionToEvict();
      if (evictable === undefined) {
        this.events.dropped();
        transport.destroy();
        return;
      }
      this.events.evicted();
      this.cut(evictable);
    }
    const ends = endsOf(transport);
    const connection: Connection = {
      transport,
      ends,
      requests: new Set(),
      hasCalled: false,
      since: performance.now(),
    };
    this.open.add(connection);
    this.#bySocket.set(transport, connection);
    this.#byEnds.set(ends, connection);
    transport.once('close', () => this.#forget(connection));
  }

  /** The handshake of a connection is complete. */
  #secure(socket: TLSSocket): void {
    const connection = this.#byEnds.get(endsOf(socket));
    if (connection === undefined) {
      // The client has disconnected.
      socket.destroy();
      return;
    }
    connection.tls = socket;
    this.#bySocket.set(socket, connection);
  }

  /**
   * One that never sent a request, else the longest idle, else one whose request does not arrive or whose response is not
   * read. Undefined when none may be closed: while a request is being decided, the client is not to blame.
   */
  #connectionToEvict(): Connection | undefined {
    const latest = performance.now() - this.limits.stallTimeoutMs;
    const first = (matches: (connection: Connection) => boolean) =>
      [...this.open]
        .filter(matches)
        .reduce<Connection | undefined>(
          (oldest, one) => (oldest === undefined || one.since < oldest.since ? one : oldest),
          undefined,
        );
    return (
      first(({ hasCalled, since }) => !hasCalled && since <= latest) ??
      first(({ hasCalled, requests }) => hasCalled && requests.size === 0) ??
      first((one) => one.requests.size > 0 && one.since <= latest && !isDeciding(one))
    );
  }

  #endTimedOut(): void {
    const { requestTimeoutMs, responseTimeoutMs, keepAliveTimeoutMs } = this.limits;
    const now = performance.now();
    for (const connection of this.open) {
      const waitedMs = now - connection.since;
      if (connection.requests.size === 0) {
        // Before the first request, the timeout is Node's.
        if (waitedMs >= keepAliveTimeoutMs) {
          this.close(connection);
        }
      } else if (waitedMs >= requestTimeoutMs + responseTimeoutMs) {
        this.events.responseDropped();
        this.cut(connection);
      }
    }
  }

  #forget(connection: Connection): void {
    const { transport, tls, ends, requests } = connection;
    this.open.delete(connection);
    this.#bySocket.delete(transport);
    if (tls !== undefined) {
      this.#bySocket.delete(tls);
    }
    if (this.#byEnds.get(ends) === connection) {
      this.#byEnds.delete(ends);
    }
    // Of pipelined requests, Node closes the response of the first only.
    for (const one of requests) {
      one.end();
    }
    requests.clear();
  }
}
