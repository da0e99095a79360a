import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { awaitingContinue } from '../application/body.ts';
import { Refusal, type Refuse } from '../application/refusal.ts';
import type { Limits } from '../limits.ts';

/** What happens on a port, for metrics and the log. */
export interface ConnectionEvents {
  /** A connection was closed to make room for another. */
  evicted(): void;
  /** A new connection was closed on arrival: the server was full, and no other connection could be closed for it. */
  dropped(): void;
  /** A connection was closed because the client did not read a response in time. */
  responseDropped(): void;
  /** A request was refused before a decision. */
  refused(refusal: Refusal, socket: Socket): void;
}

/** What answers requests: an Express application. `next` is called with an error, and for what it does not route. */
export type Application = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void;

/** The address of a client; of IPv4 as such, which a server on all interfaces has as IPv6. Undefined once it has disconnected. */
export function clientOf({ remoteAddress }: { remoteAddress?: string | undefined }): string | undefined {
  return remoteAddress?.replace(/^::ffff:/, '');
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
  /** The responses that have not been sent completely; several when requests are pipelined. */
  readonly responses: Set<ServerResponse>;
  /** Whether it has had a request. */
  hasCalled: boolean;
  /** When it arrived, became idle or busy, or sent a response. */
  since: number;
}

const endsOf = ({ remoteAddress, remotePort, localAddress }: Socket) =>
  `${remoteAddress}/${remotePort}/${localAddress}`;

/** Why a request is refused before it is routed; undefined if it is not. */
function problemOf({ httpVersion, headers, url = '' }: IncomingMessage): Refusal | undefined {
  if (httpVersion === '1.1' && headers.host === undefined) {
    return new Refusal(400, 'HTTP/1.1 requires the header Host');
  }
  // Express would parse a whole URL with url.parse, which throws for some and reads others in its own way.
  return url.startsWith('/') ? undefined : new Refusal(400, 'the target of the request must be a path');
}

const isDeciding = ({ responses }: Connection) =>
  responses.values().some(({ req, headersSent }) => req.complete && !headersSent);

/**
 * The connections of a server. Node limits the time of handshakes and of requests; this does what it does not: it closes
 * idle connections when others need the room, and gives up responses that are never read.
 */
export class Connections {
  readonly open = new Set<Connection>();
  readonly limits: Limits;
  readonly events: ConnectionEvents;
  readonly #bySocket = new Map<object, Connection>();
  // Finds the TCP socket under a TLS socket without a private property of either.
  readonly #byEnds = new Map<string, Connection>();
  readonly #server: Server;
  #isDraining = false;

  /** Follows the connections of a server until it closes. */
  constructor(server: Server, limits: Limits, events: ConnectionEvents) {
    this.limits = limits;
    this.events = events;
    this.#server = server;
    server.on('connection', (transport: Socket) => this.#accept(transport));
    server.on('secureConnection', (socket: TLSSocket) => this.#secure(socket));
    const checking = setInterval(() => this.#endTimedOut(), limits.timeoutCheckMs).unref();
    server.once('close', () => clearInterval(checking));
  }

  /** Number of requests being read or answered. */
  get inFlight(): number {
    return [...this.open].reduce((sum, { responses }) => sum + responses.size, 0);
  }

  /** The open connection with this TCP or TLS socket. */
  of(socket: object): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  /** Passes the requests of allowed clients on to an application. */
  serve(application: Application, refuse: Refuse): void {
    const serveOne = (request: IncomingMessage, response: ServerResponse) => {
      const connection = this.#begin(response);
      if (connection === undefined) {
        return;
      }
      const reason = connection.refusal === undefined ? problemOf(request) : new Refusal(403, connection.refusal);
      if (reason === undefined) {
        application(request, response, (error = new Refusal(404, 'no such path')) => refuse(error, request, response));
      } else {
        refuse(reason, request, response);
      }
    };
    this.#server.on('request', serveOne);
    this.#server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      awaitingContinue.add(response);
      serveOne(request, response);
    });
  }

  /** From now on each response is the last one of its connection, since the server stops. */
  drain(): void {
    this.#isDraining = true;
    for (const response of [...this.open].flatMap(({ responses }) => [...responses])) {
      if (!response.headersSent) {
        response.setHeader('connection', 'close');
      }
    }
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

  /** A request has arrived. Returns its connection; undefined if that was closed in the meantime. */
  #begin(response: ServerResponse): Connection | undefined {
    const connection = this.#bySocket.get(response.req.socket);
    if (connection === undefined) {
      return undefined;
    }
    const { responses } = connection;
    if (responses.size === 0) {
      connection.hasCalled = true;
      connection.since = performance.now();
    }
    responses.add(response);
    response.on('close', () => {
      responses.delete(response);
      connection.since = performance.now();
    });
    if (this.#isDraining) {
      response.setHeader('connection', 'close');
    }
    return connection;
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
      responses: new Set(),
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
      first(({ hasCalled, responses }) => hasCalled && responses.size === 0) ??
      first((one) => one.responses.size > 0 && one.since <= latest && !isDeciding(one))
    );
  }

  #endTimedOut(): void {
    const { requestTimeoutMs, responseTimeoutMs, keepAliveTimeoutMs } = this.limits;
    const now = performance.now();
    for (const connection of this.open) {
      const waitedMs = now - connection.since;
      if (connection.responses.size === 0) {
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
    const { transport, tls, ends, responses } = connection;
    this.open.delete(connection);
    this.#bySocket.delete(transport);
    if (tls !== undefined) {
      this.#bySocket.delete(tls);
    }
    if (this.#byEnds.get(ends) === connection) {
      this.#byEnds.delete(ends);
    }
    // Of pipelined requests, Node closes the response of the first only.
    for (const response of [...responses]) {
      response.destroy().emit('close');
    }
  }
}
