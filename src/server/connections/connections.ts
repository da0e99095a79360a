import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Refusal, type Refuse } from '../application/refusal.ts';
import type { Limits } from '../limits.ts';

/** An Express application. `next` is called with an error, and for what it does not route. */
export type Application = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void;

export interface ConnectionEvents {
  /** A connection was closed to make room for another. */
  evicted(): void;
  /** A new connection was closed, as no other could be closed for it. */
  dropped(): void;
  /** A client did not read a response in time. */
  responseDropped(): void;
  /** A request was refused before a decision. */
  refused(refusal: Refusal, socket: Socket): void;
}

interface Connection {
  /** The TCP socket; with TLS, the one underneath. */
  readonly transport: Socket;
  /** Both ends: from one port a client may have connections to several addresses of this server. */
  readonly ends: string;
  tls?: TLSSocket;
  refusal?: string;
  /** Those that have not been sent completely; several when requests are pipelined. */
  readonly responses: Set<ServerResponse>;
  hasCalled: boolean;
  /** When it arrived, became idle or busy, or sent a response. */
  since: number;
}

export interface StopOptions {
  /** Until this resolves, new connections are accepted, so that a response can tell clients that the server stops. */
  closeAfter?: Promise<unknown> | undefined;
  /** How long an idle connection stays open for a request that may be on its way, in milliseconds; default: 2,000. */
  graceMs?: number | undefined;
  /** After this many milliseconds, all waits included, the remaining connections are cut. */
  timeoutMs: number;
}

/** Longer than the pauses on a busy connection, but short enough for someone waiting at the keyboard. */
const defaultGraceMs = 2_000;
/** How often the remaining connections are checked during shutdown, in ms. */
const drainCheckMs = 50;

/** The address of a client, of IPv4 not as one of IPv6. Undefined once it has disconnected. */
export function clientOf({ remoteAddress }: { remoteAddress?: string | undefined }): string | undefined {
  return remoteAddress?.replace(/^::ffff:/, '');
}

const endsOf = ({ remoteAddress, remotePort, localAddress }: Socket) =>
  `${remoteAddress}/${remotePort}/${localAddress}`;

const isDeciding = ({ responses }: Connection) =>
  responses.values().some(({ req, headersSent }) => req.complete && !headersSent);

function problemOf({ httpVersion, headers, url = '' }: IncomingMessage): Refusal | undefined {
  if (httpVersion === '1.1' && headers.host === undefined) {
    return new Refusal(400, 'HTTP/1.1 requires the header Host');
  }
  // Express would parse a whole URL with url.parse, which throws for some and reads others in its own way.
  return url.startsWith('/') ? undefined : new Refusal(400, 'the target of the request must be a path');
}

interface ConnectionsOptions {
  limits: Limits;
  events: ConnectionEvents;
  application: Application;
  refuse: Refuse;
}

/**
 * Closes one connection to make room for another, and those that have been idle for too long or on which a response is not
 * read, which Node does not limit. Before the first request, the timeout is Node's.
 */
export class Connections {
  readonly open = new Set<Connection>();
  readonly events: ConnectionEvents;
  readonly #limits: Limits;
  readonly #bySocket = new Map<object, Connection>();
  // Finds the TCP socket under a TLS socket without a private property of either.
  readonly #byEnds = new Map<string, Connection>();
  readonly #server: Server;
  #isDraining = false;

  constructor(server: Server, { limits, events, application, refuse }: ConnectionsOptions) {
    this.#limits = limits;
    this.events = events;
    this.#server = server;
    server.on('connection', (transport: Socket) => this.#accept(transport));
    server.on('secureConnection', (socket: TLSSocket) => this.#secure(socket));
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
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
    });
    const checking = setInterval(() => this.#closeTimedOut(), limits.timeoutCheckMs).unref();
    server.once('close', () => clearInterval(checking));
  }

  get inFlight(): number {
    return [...this.open].reduce((sum, { responses }) => sum + responses.size, 0);
  }

  of(socket: object): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  /** Ends the server and all connections, idle ones first. Resolves with the number of those that had to be cut. */
  async stop({ closeAfter, graceMs = defaultGraceMs, timeoutMs }: StopOptions): Promise<number> {
    const startedMs = performance.now();
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    let cutCount = 0;
    let mayClose = closeAfter === undefined;
    this.#isDraining = true;
    for (const response of [...this.open].flatMap(({ responses }) => [...responses])) {
      if (!response.headersSent) {
        response.setHeader('connection', 'close');
      }
    }
    const stopListening = () => {
      if (this.#server.listening) {
        // Node then closes idle connections as well.
        this.#server.close(() => resolve());
      }
    };
    const closeIdle = () => {
      if (!mayClose) {
        return;
      }
      const now = performance.now();
      if (this.open.size === 0 || now - startedMs >= graceMs) {
        stopListening();
      }
      for (const connection of this.open) {
        if (connection.responses.size === 0 && now - Math.max(connection.since, startedMs) >= graceMs) {
          this.#close(connection);
        }
      }
    };
    // Only after everything that has arrived has been read: closing a socket with unread data resets it.
    const closeIdleSoon = () => void setImmediate(closeIdle);
    const checking = setInterval(closeIdleSoon, Math.min(drainCheckMs, timeoutMs));
    const cutAll = setTimeout(() => {
      stopListening();
      for (const connection of this.open) {
        cutCount++;
        this.#cut(connection);
      }
    }, timeoutMs);
    closeAfter?.then(() => {
      mayClose = true;
      closeIdleSoon();
    });
    closeIdleSoon();
    await closed;
    clearInterval(checking);
    clearTimeout(cutAll);
    return cutCount;
  }

  /** After what has been written. */
  #close({ tls, transport }: Connection): void {
    (tls ?? transport).destroySoon();
  }

  /** At once, with its requests. */
  #cut(connection: Connection): void {
    this.#forget(connection);
    connection.transport.destroy();
  }

  #closeTimedOut(): void {
    const { requestTimeoutMs, responseTimeoutMs, keepAliveTimeoutMs } = this.#limits;
    const now = performance.now();
    for (const connection of this.open) {
      const waitedMs = now - connection.since;
      if (connection.responses.size === 0) {
        if (waitedMs >= keepAliveTimeoutMs) {
          this.#close(connection);
        }
      } else if (waitedMs >= requestTimeoutMs + responseTimeoutMs) {
        this.events.responseDropped();
        this.#cut(connection);
      }
    }
  }

  /** One that never called, else the longest idle, else one that stalls: not while a request is being decided. */
  #evictable(): Connection | undefined {
    const latest = performance.now() - this.#limits.stallTimeoutMs;
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

  /** Returns the connection of a request; undefined if that was closed in the meantime. */
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
    if (this.open.size >= this.#limits.maxConnections) {
      const evictable = this.#evictable();
      if (evictable === undefined) {
        this.events.dropped();
        transport.destroy();
        return;
      }
      this.events.evicted();
      this.#cut(evictable);
    }
    const ends = endsOf(transport);
    const since = performance.now();
    const connection: Connection = { transport, ends, responses: new Set(), hasCalled: false, since };
    this.open.add(connection);
    this.#bySocket.set(transport, connection);
    this.#byEnds.set(ends, connection);
    transport.once('close', () => this.#forget(connection));
  }

  #secure(socket: TLSSocket): void {
    const connection = this.#byEnds.get(endsOf(socket));
    if (connection === undefined) {
      socket.destroy();
      return;
    }
    connection.tls = socket;
    this.#bySocket.set(socket, connection);
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
