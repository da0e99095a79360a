import type { Http2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createByteBudget } from './byte-budget.ts';
import { type Connection, Http2Response, type TrackedResponse } from './tracked.ts';

/** How long a client has to close a connection of HTTP/2 after its last response, in milliseconds. */
const leavingMs = 1_000;

const peerOf = (socket: Socket) => `${socket.remoteAddress}/${socket.remotePort}`;

/**
 * The connections of a server: the state of each, what it carries, and how it ends. Node's own list does not have
 * connections in their TLS handshake, and counts one as busy before its first request.
 */
export class ConnectionTable {
  // Each connection is in one of these sets, in the order of arrival in that set.
  /** No request has come yet. */
  readonly fresh = new Set<Connection>();
  /** There was a request, and there is none now. */
  readonly idle = new Set<Connection>();
  /** A request is being read or answered. */
  readonly busy = new Set<Connection>();
  /** Bytes of bodies and responses. */
  readonly budget: ReturnType<typeof createByteBudget>;
  readonly #bySocket = new Map<Socket, Connection>();
  // How a TLS socket finds its transport, without a private property of either.
  readonly #byPeer = new Map<string, Connection>();
  readonly #bySession = new WeakMap<Http2Session, Connection>();
  #requests = 0;

  /** @param maxInFlightBytes maximum number of bytes of bodies and responses at a time. */
  constructor(maxInFlightBytes: number) {
    this.budget = createByteBudget(maxInFlightBytes);
  }

  get size(): number {
    return this.fresh.size + this.idle.size + this.busy.size;
  }

  /** Requests being read or answered. */
  get requests(): number {
    return this.#requests;
  }

  /** Adds a new connection. */
  open(transport: Socket): void {
    const connection: Connection = {
      transport,
      secure: undefined,
      session: undefined,
      since: performance.now(),
      requests: 0,
      streams: new Set(),
      bytes: 0,
      deciding: 0,
      responding: false,
      mark: undefined,
      leavingSince: undefined,
      state: this.fresh,
    };
    this.fresh.add(connection);
    this.#bySocket.set(transport, connection);
    const peer = peerOf(transport);
    this.#byPeer.set(peer, connection);
    transport.once('close', () => {
      this.#forget(connection);
      if (this.#byPeer.get(peer) === connection) {
        this.#byPeer.delete(peer);
      }
    });
  }

  /** The handshake of a connection is over. */
  secure(socket: TLSSocket): void {
    const connection = this.#byPeer.get(peerOf(socket));
    if (connection === undefined) {
      // The client has gone.
      socket.destroy();
      return;
    }
    connection.secure = socket;
    this.#bySocket.set(socket, connection);
  }

  /** A connection has negotiated HTTP/2. */
  carry(socket: TLSSocket, session: Http2Session): void {
    const connection = this.#bySocket.get(socket);
    if (connection !== undefined) {
      connection.session = session;
      this.#bySession.set(session, connection);
    }
  }

  bySocket(socket: Socket): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  bySession(session: Http2Session): Connection | undefined {
    return this.#bySession.get(session);
  }

  /** A request has come. */
  begin(connection: Connection, response: TrackedResponse): void {
    response.carrier = connection;
    this.#requests++;
    connection.requests++;
    this.#move(connection, this.busy);
  }

  /** A response has been sent, or its client has gone. */
  settle(response: TrackedResponse): void {
    const connection = response.carrier;
    if (connection === undefined || connection.requests === 0) {
      return;
    }
    this.decided(response);
    if (response instanceof Http2Response) {
      connection.streams.delete(response);
    }
    this.#requests--;
    connection.requests--;
    this.budget.release(response.heldBytes);
    connection.bytes -= response.heldBytes;
    response.heldBytes = 0;
    if (connection.requests === 0) {
      connection.responding = false;
      this.#move(connection, this.idle);
    } else {
      this.#move(connection, this.busy);
    }
  }

  /** Counts bytes that a response holds until it has been sent. */
  hold(response: TrackedResponse, bytes: number): void {
    if (response.carrier !== undefined && response.carrier.requests > 0) {
      this.budget.take(bytes);
      response.heldBytes += bytes;
      response.carrier.bytes += bytes;
    }
  }

  /** The request has arrived and waits for its decision. */
  deciding(response: TrackedResponse): void {
    if (response.carrier !== undefined && !response.isDeciding) {
      response.isDeciding = true;
      response.carrier.deciding++;
    }
  }

  decided(response: TrackedResponse): void {
    if (response.isDeciding && response.carrier !== undefined) {
      response.isDeciding = false;
      response.carrier.deciding--;
    }
  }

  /** Ends a connection that carries no request; over HTTP/2 the requests that it carries are finished first. */
  close(connection: Connection): void {
    const { session, secure, transport, leavingSince } = connection;
    if (session === undefined) {
      (secure ?? transport).destroySoon();
    } else if (leavingSince === undefined) {
      connection.leavingSince = performance.now();
      // GOAWAY names the last request that gets a response: clients repeat later ones on another connection.
      session.close();
    } else if (connection.requests === 0 && performance.now() - Math.max(leavingSince, connection.since) >= leavingMs) {
      this.cut(connection);
    }
  }

  /** Ends a connection with all that it carries. */
  cut(connection: Connection): void {
    this.#forget(connection);
    connection.transport.destroy();
  }

  #move(connection: Connection, state: Set<Connection>): void {
    connection.state.delete(connection);
    connection.state = state;
    connection.since = performance.now();
    connection.mark = undefined;
    state.add(connection);
  }

  #forget(connection: Connection): void {
    if (!connection.state.delete(connection)) {
      return;
    }
    // Of pipelined requests, Node closes the response of the first only.
    this.#requests -= connection.requests;
    this.budget.release(connection.bytes);
    connection.requests = 0;
    connection.bytes = 0;
    this.#bySocket.delete(connection.transport);
    if (connection.secure !== undefined) {
      this.#bySocket.delete(connection.secure);
    }
  }
}
