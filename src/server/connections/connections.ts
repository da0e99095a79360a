import type { Http2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { ByteBudget } from './byte-budget.ts';
import { Connection, type OpenExchange } from './connection.ts';
import type { Limits } from './limits.ts';

/** What happens on a server, for metrics. */
export interface ConnectionEvents {
  /** A connection was closed to make room for another. */
  evicted(): void;
  /** A new connection was closed on arrival: the server was full, and no other connection could be closed for it. */
  dropped(): void;
  /** A response was abandoned because the client did not read it in time. */
  responseDropped(): void;
  /** A request was refused before a decision. */
  refused(code: number): void;
}

/**
 * How many copies of a response are in memory: encryption makes a second one before the first byte is sent (node:tls
 * passes all of it to OpenSSL at once).
 */
const copiesOfResponse = 2;
/** How long a client has to close an HTTP/2 connection after its last response, in milliseconds. */
const leavingMs = 1_000;

/** Both ends: from one port a client may have connections to several addresses of this server. */
const endsOf = ({
  remoteAddress,
  remotePort,
  localAddress,
}: Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress'>) => `${remoteAddress}/${remotePort}/${localAddress}`;

const firstIn = (connections: ReadonlySet<Connection>): Connection | undefined => connections.values().next().value;

/**
 * The connections of a server with their requests. Node limits the time of handshakes, of HTTP/1.1 requests, and of
 * idle HTTP/1.1 connections; this does what it does not: it closes idle and stalled connections when others need the
 * room, limits the bytes in memory, gives up responses that are never read, and has the timeouts of HTTP/2.
 */
export class Connections {
  // Each connection is in exactly one of these sets, the oldest first.
  /** There has not been a request yet. */
  readonly fresh = new Set<Connection>();
  /** There has been a request, but there is none now. */
  readonly idle = new Set<Connection>();
  /** A request is being read or answered. */
  readonly busy = new Set<Connection>();
  /** Whether each response is the last one of its connection, since the server stops. */
  isDraining = false;
  readonly limits: Limits;
  readonly events: ConnectionEvents;
  readonly #budget: ByteBudget;
  /** By TCP socket, TLS socket and HTTP/2 session. */
  readonly #connections = new WeakMap<object, Connection>();
  // Finds the TCP socket under a TLS socket without a private property of either.
  readonly #byEnds = new Map<string, Connection>();

  constructor(limits: Limits, events: ConnectionEvents) {
    this.limits = limits;
    this.events = events;
    this.#budget = new ByteBudget(limits.maxInFlightBytes);
  }

  get size(): number {
    return this.fresh.size + this.idle.size + this.busy.size;
  }

  /** Number of requests being read or answered. */
  get inFlight(): number {
    return [...this.busy].reduce((sum, { exchanges }) => sum + exchanges.size, 0);
  }

  /** Bytes of their bodies and responses. */
  get inFlightBytes(): number {
    return this.#budget.held;
  }

  open(transport: Socket): void {
    if (this.size >= this.limits.maxConnections) {
      const evictable = this.#connectionToEvict();
      if (evictable === undefined) {
        this.events.dropped();
        transport.destroy();
        return;
      }
      this.#evict(evictable);
    }
    const connection = new Connection(transport, this.fresh);
    this.fresh.add(connection);
    this.#connections.set(transport, connection);
    const ends = endsOf(transport);
    this.#byEnds.set(ends, connection);
    transport.once('close', () => {
      this.#forget(connection);
      if (this.#byEnds.get(ends) === connection) {
        this.#byEnds.delete(ends);
      }
    });
  }

  /** The handshake of a connection is complete. */
  secure(socket: TLSSocket): void {
    const connection = this.#byEnds.get(endsOf(socket));
    if (connection === undefined) {
      // The client has disconnected.
      socket.destroy();
      return;
    }
    connection.tls = socket;
    this.#connections.set(socket, connection);
  }

  /** A connection has negotiated HTTP/2 in its handshake. */
  upgrade(session: Http2Session): void {
    const connection = this.#byEnds.get(endsOf(session.socket));
    if (connection !== undefined) {
      connection.session = session;
      this.#connections.set(session, connection);
    }
  }

  /** The open connection with this TCP socket, TLS socket or HTTP/2 session. */
  of(socketOrSession: object | undefined): Connection | undefined {
    const connection = socketOrSession && this.#connections.get(socketOrSession);
    return connection?.state.has(connection) ? connection : undefined;
  }

  begin(exchange: OpenExchange): void {
    const { connection } = exchange;
    connection.exchanges.add(exchange);
    connection.requestCount++;
    connection.moveTo(this.busy);
  }

  /** The response to a request has been sent, or its client has disconnected. */
  end(exchange: OpenExchange): void {
    const { connection } = exchange;
    if (connection.exchanges.delete(exchange)) {
      this.#hold(exchange, 0);
      exchange.end();
      connection.moveTo(connection.exchanges.size === 0 ? this.idle : this.busy);
    }
  }

  /** Reserves bytes of a request until its response has been sent; false when there is no room for them. */
  holdBody(exchange: OpenExchange, bytes: number): boolean {
    if (!this.#budget.fits(bytes, exchange.heldBytes)) {
      this.#makeRoom(exchange, bytes);
    }
    if (!this.#budget.fits(bytes, exchange.heldBytes)) {
      return false;
    }
    this.#hold(exchange, exchange.heldBytes + bytes);
    return true;
  }

  /** Reserves bytes of a response until it has been sent, instead of those of its request. */
  holdResponse(exchange: OpenExchange, bytes: number): void {
    this.#hold(exchange, copiesOfResponse * bytes);
  }

  /** Ends a connection; over HTTP/2, requests in flight are finished first. */
  close(connection: Connection): void {
    const { session, tls, transport, leavingSince } = connection;
    if (session === undefined) {
      (tls ?? transport).destroySoon();
    } else if (leavingSince === undefined) {
      connection.leavingSince = performance.now();
      // GOAWAY names the last request that gets a response: clients repeat later ones on a new connection.
      session.close();
    } else if (
      connection.exchanges.size === 0 &&
      performance.now() - Math.max(leavingSince, connection.since) >= leavingMs
    ) {
      this.cut(connection);
    }
  }

  /** Ends a connection at once, with its requests. */
  cut(connection: Connection): void {
    this.#forget(connection);
    connection.transport.destroy();
  }

  /** One that never sent a request, else the longest idle, else a stalled one; undefined when none may be closed. */
  #connectionToEvict(): Connection | undefined {
    const { stallTimeoutMs } = this.limits;
    const newcomer = firstIn(this.fresh);
    if (newcomer !== undefined && performance.now() - newcomer.since >= stallTimeoutMs) {
      return newcomer;
    }
    return firstIn(this.idle) ?? [...this.busy].find((connection) => connection.isStalled(stallTimeoutMs));
  }

  /** Closes stalled connections until the bytes fit or none are left: they must not use up the budget of others. */
  #makeRoom({ connection: own, heldBytes }: OpenExchange, bytes: number): void {
    for (const connection of this.busy) {
      const holdsBytes = [...connection.exchanges].some((exchange) => exchange.heldBytes > 0);
      if (connection !== own && holdsBytes && connection.isStalled(this.limits.stallTimeoutMs)) {
        this.#evict(connection);
        if (this.#budget.fits(bytes, heldBytes)) {
          return;
        }
      }
    }
  }

  #evict(connection: Connection): void {
    this.events.evicted();
    this.cut(connection);
  }

  #hold(exchange: OpenExchange, bytes: number): void {
    this.#budget.held += bytes - exchange.heldBytes;
    exchange.heldBytes = bytes;
  }

  #forget(connection: Connection): void {
    if (connection.state.delete(connection)) {
      // Of pipelined requests, Node closes the response of the first only.
      for (const exchange of connection.exchanges) {
        this.#hold(exchange, 0);
        exchange.end();
      }
      connection.exchanges.clear();
    }
  }
}
