import { type IncomingHttpHeaders, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import { constants, type Http2ServerRequest, Http2ServerResponse, type Http2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createByteBudget } from './byte-budget.ts';

/** What the connections of one server may take. */
export interface ConnectionLimits {
  /** Maximum number of connections at a time, those in their TLS handshake included. */
  maxConnections: number;
  /** How long a connection may stay open without a request, in milliseconds. */
  keepAliveTimeoutMs: number;
  /**
   * How long a connection of HTTP/2 may stay open before its first request, in milliseconds; for HTTP/1.1 Node does
   * that.
   */
  headersTimeoutMs: number;
  /** Longest time for a whole request to arrive, in milliseconds. */
  requestTimeoutMs: number;
  /**
   * How long a handshake, request or response may make no progress before its connection may be closed in favour of
   * others, in milliseconds. A rush of well-behaved clients must not get any of them cut off halfway.
   */
  patienceMs: number;
  /** How long the client may take to read a response, in milliseconds. */
  responseTimeoutMs: number;
  /** Maximum number of bytes of bodies and responses at a time. */
  maxInFlightBytes: number;
  /** How often the timeouts are checked, in milliseconds; they may be this late. */
  timeoutCheckMs: number;
}

/** Events of connections, for metrics. */
export interface ConnectionEvents {
  /** One was closed to make room. */
  evicted(): void;
  /** A new one was closed on arrival: there was no room and no other could be closed for it. */
  dropped(): void;
  /** A response was given up because it was not read in time. */
  responseDropped(): void;
  /** A request of HTTP/2 did not arrive in time; for HTTP/1.1 Node reports it. */
  requestLate(request: TrackedRequest, response: TrackedResponse): void;
}

/** How connections end when a server stops. */
export interface DrainOptions {
  /** Until this resolves, new connections are taken and idle ones stay. */
  closeAfter?: Promise<unknown> | undefined;
  /**
   * How long an idle connection stays open, so that a request that is on its way to it is answered, in milliseconds.
   * For as long new connections are taken, unless there is none at all.
   */
  graceMs: number;
  /** After this many milliseconds, all waits included, what is left is cut. */
  timeoutMs: number;
}

/** The connections of one HTTP server. */
export interface Connections {
  count(): number;
  /** Requests that are being read or answered. */
  inFlight(): number;
  /** Bytes of their bodies and responses. */
  inFlightBytes(): number;
  /** Reserves bytes of a body until the response has been sent; false when there is no room for them. */
  holdBody(response: TrackedResponse, bytes: number): boolean;
  /** The request has arrived and waits for its decision: that nothing is sent meanwhile is not the client's fault. */
  holdDecision(response: TrackedResponse): void;
  /** Reserves bytes of a response, in place of those of the body, until it has been sent. */
  holdResponse(response: TrackedResponse, bytes: number): void;
  /** To be called when a connection has negotiated HTTP/2 in its TLS handshake. */
  carry(socket: TLSSocket, session: Http2Session): void;
  /** To be called when a request came over HTTP/2. */
  begin(request: Http2ServerRequest, response: Http2Response): void;
  /**
   * Takes no more requests on the HTTP/2 connection of a response: the client is told so, and its other requests are
   * finished.
   */
  leave(response: TrackedResponse): void;
  /** Ends all connections, those that carry no request first; resolves when none is left. */
  drain(options: DrainOptions): Promise<{ cut: number }>;
}

interface Connection {
  /** The TCP socket; for TLS the transport underneath. */
  readonly transport: Socket;
  /** The TLS socket on it, once there is one. */
  secure: TLSSocket | undefined;
  /** The HTTP/2 session; undefined for HTTP/1.1. */
  session: Http2Session | undefined;
  /** When its present state began. */
  since: number;
  /** Requests being read or answered on it: several when pipelined, or over HTTP/2. */
  requests: number;
  /** HTTP/2 streams, each with timeouts of its own; the oldest first. */
  readonly streams: Set<Http2Response>;
  /** Bytes that they hold. */
  bytes: number;
  /** Requests that wait for their decision. */
  deciding: number;
  /** Whether a response waits to be read. */
  responding: boolean;
  /** The progress of its request or response at the last check, and when that was. */
  mark: { bytes: number; at: number } | undefined;
  /** When GOAWAY was sent (HTTP/2); a connection without requests that is still open some time later is cut. */
  leavingSince: number | undefined;
  state: Set<Connection>;
}

/** A request as applications see it, in any version of HTTP. */
export interface TrackedRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Whether all of it has arrived. */
  readonly complete: boolean;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  once(event: 'end' | 'error', listener: () => void): unknown;
  off(event: 'data', listener: (chunk: Buffer) => void): unknown;
  off(event: 'end', listener: () => void): unknown;
}

/** A response that knows its connection, in any version of HTTP. */
export interface TrackedResponse {
  carrier: Connection | undefined;
  heldBytes: number;
  isDeciding: boolean;
  /**
   * Whether its connection carries other requests at the same time, so that `connection: close` means nothing on it.
   */
  readonly isHttp2: boolean;
  writeHead(code: number, headers: string[]): unknown;
  write(text: string): unknown;
  end(): unknown;
  end(text: string): unknown;
  writeContinue(): void;
  on(event: 'close', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  /** HTTP/2: asks for no more of the request. For after `end`. */
  refuseRest(): void;
}

/** An HTTP/1.1 response; the `ServerResponse` of servers with tracked connections. */
export class Http1Response extends ServerResponse<IncomingMessage> implements TrackedResponse {
  carrier: Connection | undefined = undefined;
  heldBytes = 0;
  isDeciding = false;
  readonly isHttp2 = false;
  refuseRest(): void {}
}

/** An HTTP/2 response. */
export class Http2Response extends Http2ServerResponse<Http2ServerRequest> implements TrackedResponse {
  carrier: Connection | undefined = undefined;
  heldBytes = 0;
  isDeciding = false;
  readonly isHttp2 = true;
  /** When its request arrived, when its response began to be sent, and whether it was given up. */
  readonly since = performance.now();
  respondingSince: number | undefined = undefined;
  isGivenUp = false;
  refuseRest(): void {
    this.stream.close(constants.NGHTTP2_NO_ERROR);
  }
}

/** A server with tracked connections, over TLS or not. */
export type TrackedServer = Server<typeof IncomingMessage, typeof Http1Response>;

/**
 * How many copies of a response are in memory: encrypting makes a second one before the first byte is sent (node:tls
 * hands OpenSSL all of it at once).
 */
const copiesOfResponse = 2;
/**
 * The slowest progress with which a request or response is not cut in favour of others. Low, since a server that parses
 * large bodies gets round to each connection only now and then.
 */
const leastBytesPerMs = 32;
/** How long a client has to close a connection of HTTP/2 after its last response, in milliseconds. */
const leavingMs = 1_000;
/** How often a stop looks at what is left, in milliseconds. */
const drainCheckMs = 50;

function first(connections: ReadonlySet<Connection>): Connection | undefined {
  return connections.values().next().value;
}

/**
 * Keeps account of a server's connections: closes those that are out of time or in the way of others, and drains them
 * all at the end. Node's own list does not have connections in their TLS handshake, counts one as busy before its first
 * request, and does not notice a response that is never read. The server must be made with `TrackedResponse`.
 */
export function trackConnections(
  server: TrackedServer,
  limits: ConnectionLimits,
  events: ConnectionEvents,
): Connections {
  // Each connection is in one of these sets, in the order of arrival in that set.
  const fresh = new Set<Connection>();
  const idle = new Set<Connection>();
  const busy = new Set<Connection>();
  const bySocket = new Map<Socket, Connection>();
  // How a TLS socket finds its transport, without a private property of either.
  const byPeer = new Map<string, Connection>();
  const bySession = new WeakMap<Http2Session, Connection>();
  const budget = createByteBudget(limits.maxInFlightBytes);
  let requests = 0;

  const peerOf = (socket: Socket) => `${socket.remoteAddress}/${socket.remotePort}`;

  function move(connection: Connection, state: Set<Connection>): void {
    connection.state.delete(connection);
    connection.state = state;
    connection.since = performance.now();
    connection.mark = undefined;
    state.add(connection);
  }

  function markOf({ transport }: Connection) {
    return { bytes: transport.bytesRead + transport.bytesWritten, at: performance.now() };
  }

  /**
   * Whether a request or response makes no progress worth waiting for. Its total time does not count: that may be our
   * own fault.
   */
  function isStalled(connection: Connection): boolean {
    if (connection.deciding > 0) {
      return false;
    }
    const { mark } = connection;
    const current = markOf(connection);
    if (mark !== undefined && current.at - mark.at < limits.patienceMs) {
      return false;
    }
    connection.mark = current;
    return mark !== undefined && current.bytes - mark.bytes < (current.at - mark.at) * leastBytesPerMs;
  }

  function cut(connection: Connection): void {
    forget(connection);
    connection.transport.destroy();
  }

  /** Ends a connection that carries no request; over HTTP/2 the requests that it carries are finished first. */
  function close(connection: Connection): void {
    const { session, secure, transport, leavingSince } = connection;
    if (session === undefined) {
      (secure ?? transport).destroySoon();
    } else if (leavingSince === undefined) {
      connection.leavingSince = performance.now();
      // GOAWAY names the last request that gets a response: clients repeat later ones on another connection.
      session.close();
    } else if (connection.requests === 0 && performance.now() - Math.max(leavingSince, connection.since) >= leavingMs) {
      cut(connection);
    }
  }

  /**
   * Which connection is closed when there is no room: one that never sent a request, else the longest idle, else a
   * stalled one.
   */
  function victim(): Connection | undefined {
    const newcomer = first(fresh);
    if (newcomer !== undefined && performance.now() - newcomer.since >= limits.patienceMs) {
      return newcomer;
    }
    return first(idle) ?? [...busy].find(isStalled);
  }

  function forget(connection: Connection): void {
    if (!connection.state.delete(connection)) {
      return;
    }
    // Of pipelined requests, Node closes the response of the first only.
    requests -= connection.requests;
    budget.release(connection.bytes);
    connection.requests = 0;
    connection.bytes = 0;
    bySocket.delete(connection.transport);
    if (connection.secure !== undefined) {
      bySocket.delete(connection.secure);
    }
  }

  server.on('connection', (transport: Socket) => {
    if (fresh.size + idle.size + busy.size >= limits.maxConnections) {
      const going = victim();
      if (going === undefined) {
        events.dropped();
        transport.destroy();
        return;
      }
      events.evicted();
      cut(going);
    }
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
      state: fresh,
    };
    fresh.add(connection);
    bySocket.set(transport, connection);
    const peer = peerOf(transport);
    byPeer.set(peer, connection);
    transport.once('close', () => {
      forget(connection);
      if (byPeer.get(peer) === connection) {
        byPeer.delete(peer);
      }
    });
  });
  server.on('secureConnection', (socket: TLSSocket) => {
    const connection = byPeer.get(peerOf(socket));
    if (connection === undefined) {
      // The client has gone.
      socket.destroy();
      return;
    }
    connection.secure = socket;
    bySocket.set(socket, connection);
  });

  function decided(response: TrackedResponse): void {
    if (response.isDeciding && response.carrier !== undefined) {
      response.isDeciding = false;
      response.carrier.deciding--;
    }
  }
  function settle(this: TrackedResponse): void {
    const connection = this.carrier;
    if (connection === undefined || connection.requests === 0) {
      return;
    }
    decided(this);
    if (this instanceof Http2Response) {
      connection.streams.delete(this);
    }
    requests--;
    connection.requests--;
    budget.release(this.heldBytes);
    connection.bytes -= this.heldBytes;
    this.heldBytes = 0;
    if (connection.requests === 0) {
      connection.responding = false;
      move(connection, idle);
    } else {
      move(connection, busy);
    }
  }
  function begin(connection: Connection | undefined, response: Http1Response | Http2Response): void {
    if (connection === undefined) {
      return;
    }
    response.carrier = connection;
    response.on('close', settle);
    requests++;
    connection.requests++;
    move(connection, busy);
  }
  server.prependListener('request', (request: IncomingMessage, response: Http1Response) => {
    begin(bySocket.get(request.socket), response);
  });

  function add(response: TrackedResponse, bytes: number): void {
    if (response.carrier !== undefined && response.carrier.requests > 0) {
      budget.take(bytes);
      response.heldBytes += bytes;
      response.carrier.bytes += bytes;
    }
  }

  /** Gives up HTTP/2 requests that have not arrived in time, and responses that were not read. */
  function sweepStreams(connection: Connection, now: number): void {
    for (const response of connection.streams) {
      const { since, respondingSince, isGivenUp } = response;
      const late = now - since >= limits.requestTimeoutMs;
      if (respondingSince === undefined && late && !response.req.complete && !isGivenUp) {
        events.requestLate(response.req, response);
      } else if (
        now - (respondingSince ?? since) >=
        limits.responseTimeoutMs + (respondingSince === undefined ? limits.requestTimeoutMs : 0)
      ) {
        if (isGivenUp) {
          // Not even the reset could be sent.
          cut(connection);
          return;
        }
        events.responseDropped();
        response.isGivenUp = true;
        response.stream.close(constants.NGHTTP2_CANCEL);
      }
    }
  }

  const sweep = setInterval(() => {
    const now = performance.now();
    for (const connection of busy) {
      // Node limits the time for a request to arrive, unless its response began earlier.
      const allowed = limits.responseTimeoutMs + (connection.responding ? 0 : limits.requestTimeoutMs);
      if (connection.session !== undefined) {
        sweepStreams(connection, now);
      } else if (now - connection.since >= allowed) {
        events.responseDropped();
        cut(connection);
        continue;
      }
      connection.mark ??= markOf(connection);
    }
    for (const connection of fresh) {
      if (connection.session !== undefined && now - connection.since >= limits.headersTimeoutMs) {
        close(connection);
      }
    }
    for (const connection of idle) {
      if (now - connection.since >= limits.keepAliveTimeoutMs || connection.leavingSince !== undefined) {
        close(connection);
      }
    }
  }, limits.timeoutCheckMs);
  sweep.unref();

  return {
    count: () => fresh.size + idle.size + busy.size,
    inFlight: () => requests,
    inFlightBytes: budget.held,
    holdBody(response, bytes) {
      const held = response.heldBytes;
      for (const connection of budget.fits(bytes, held) ? [] : busy) {
        // Bytes of a stalled connection do not count against others.
        if (connection !== response.carrier && connection.bytes > 0 && isStalled(connection)) {
          events.evicted();
          cut(connection);
          if (budget.fits(bytes, held)) {
            break;
          }
        }
      }
      if (!budget.fits(bytes, held)) {
        return false;
      }
      add(response, bytes);
      return true;
    },
    holdDecision(response) {
      if (response.carrier !== undefined && !response.isDeciding) {
        response.isDeciding = true;
        response.carrier.deciding++;
      }
    },
    holdResponse(response, bytes) {
      add(response, copiesOfResponse * bytes - response.heldBytes);
      decided(response);
      if (response instanceof Http2Response) {
        response.respondingSince = performance.now();
      } else if (response.carrier !== undefined) {
        response.carrier.responding = true;
        response.carrier.since = performance.now();
      }
    },
    carry(socket, session) {
      const connection = bySocket.get(socket);
      if (connection !== undefined) {
        connection.session = session;
        bySession.set(session, connection);
      }
    },
    begin(request, response) {
      const { session } = request.stream;
      const connection = session === undefined ? undefined : bySession.get(session);
      connection?.streams.add(response);
      begin(connection, response);
    },
    leave({ carrier }) {
      if (carrier?.session !== undefined) {
        close(carrier);
      }
    },
    async drain({ closeAfter, graceMs, timeoutMs }) {
      const startedMs = performance.now();
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      let cutCount = 0;
      let mayClose = closeAfter === undefined;
      let listens = true;
      function isQuiet(connection: Connection): boolean {
        return performance.now() - Math.max(connection.since, startedMs) >= graceMs;
      }
      function look(): void {
        if (!mayClose) {
          return;
        }
        const left = fresh.size + idle.size + busy.size;
        if (listens && (left === 0 || performance.now() - startedMs >= graceMs)) {
          listens = false;
          // Node closes idle connections with it; their grace period is over.
          server.close(() => resolve());
        }
        for (const waiting of [fresh, idle]) {
          for (const connection of waiting) {
            if (isQuiet(connection)) {
              close(connection);
            }
          }
        }
      }
      // After everything that has arrived was read: closing a socket with unread data resets it.
      const lookSoon = () => void setImmediate(look);
      const looking = setInterval(lookSoon, Math.min(drainCheckMs, timeoutMs));
      const cutAll = setTimeout(() => {
        if (listens) {
          server.close(() => resolve());
        }
        listens = false;
        for (const state of [fresh, idle, busy]) {
          cutCount += state.size;
          for (const connection of state) {
            cut(connection);
          }
        }
      }, timeoutMs);
      closeAfter?.then(() => {
        mayClose = true;
        lookSoon();
      });
      lookSoon();
      await closed;
      clearInterval(looking);
      clearTimeout(cutAll);
      clearInterval(sweep);
      return { cut: cutCount };
    },
  };
}
