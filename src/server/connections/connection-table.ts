import type { Http2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createByteBudget } from './byte-budget.ts';
import { type Connection, isHttp2Response, type TrackedResponse } from './tracked.ts';

/** How long a client has to close an HTTP/2 connection after its last response, in milliseconds. */
const leavingMs = 1_000;

const peerOf = (socket: Socket) => `${socket.remoteAddress}/${socket.remotePort}`;

/**
 * The connections of a server: the state of each, its requests, and how it ends. Node's own list lacks connections in
 * their TLS handshake, and counts a connection as busy before its first request.
 */
export class ConnectionTable {
  // Each connection is in exactly one of these sets, in order of arrival.
  /** There has not been a request yet. */
  readonly fresh = new Set<Connection>();
  /** There has been a request, but there is none now. */
  readonly idle = new Set<Connection>();
  /** A request is being read or answered. */
  readonly busy = new Set<Connection>();
  /** Bytes of bodies and responses. */
  readonly budget: ReturnType<typeof createByteBudget>;
  readonly #bySocket = new Map<Socket, Connection>();
  // Finds the transport of a TLS socket without using a private property of either.
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

  /** The handshake of a connection is complete. */
  secure(socket: TLSSocket): void {
    const connection = this.#byPeer.get(peerOf(socket));
    if (connection === undefined) {
      // The client has disconnected.
      socket.destroy();
      return;
    }
    connection.secure = socket;
    this.#bySocket.set(socket, connection);
  }

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

  /** A request has arrived. */
  begin(connection: Connection, response: TrackedResponse): void {
    response.carrier = connection;
    this.#requests++;
    connection.requests++;
    this.#move(connection, this.busy);
  }

  /** A response has been sent, or its client has disconnected. */
  settle(response: TrackedResponse): void {
    const connection = response.carrier;
    if (connection === undefined || connection.requests === 0) {
      return;
    }
    this.decided(response);
    if (isHttp2Response(response)) {
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

  /** Counts bytes that a response occupies until it has been sent. */
  hold(response: TrackedResponse, bytes: number): void {
    if (response.carrier !== undefined && response.carrier.requests > 0) {
      this.budget.take(bytes);
      response.heldBytes += bytes;
      response.carrier.bytes += bytes;
    }
  }

  /** The request has arrived completely and is being decided. */
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

  /** Ends a connection without requests; over HTTP/2, requests in flight are finished first. */
  close(connection: Connection): void {
    const { session, secure, transport, leavingSince } = connection;
    if (session === undefined) {
      (secure ?? transport).destroySoon();
    } else if (leavingSince === undefined) {
      connection.leavingSince = performance.now();
      // GOAWAY names the last request that gets a response: clients repeat later ones on a new connection.
      session.close();
    } else if (connection.requests === 0 && performance.now() - Math.max(leavingSince, connection.since) >= leavingMs) {
      this.cut(connection);
    }
  }

  /** Ends a connection at once, with its requests. */
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
