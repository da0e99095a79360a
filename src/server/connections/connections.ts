import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Refusal, type Refuse } from '../application/refusal.ts';
import type { Limits } from '../limits.ts';
import type { Connection, ConnectionEvents } from './connection.ts';
import { connectionToEvict } from './make-room.ts';

/** The request handler: an Express application. `next` is called with an error, and for what it does not route. */
export type Application = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void;

/** The address of a client; of IPv4 as such, which a server on all interfaces has as IPv6. Undefined once it has disconnected. */
export function clientOf({ remoteAddress }: { remoteAddress?: string | undefined }): string | undefined {
  return remoteAddress?.replace(/^::ffff:/, '');
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

/** The connections of a server with their requests. When it is full, one is closed to make room for another. */
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
    this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
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
      const evictable = connectionToEvict(this.open, this.limits.stallTimeoutMs);
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
