import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest, Http2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { TLSSocket } from 'node:tls';
import type { ConnectionEvents, ConnectionLimits } from './connection-limits.ts';
import { ConnectionTable } from './connection-table.ts';
import { type DrainOptions, drain } from './drain.ts';
import { isStalled, victimOf } from './stalled.ts';
import { Timeouts } from './timeouts.ts';
import {
  type Connection,
  type Http1Response,
  isHttp2Response,
  type TrackedHttp2Response,
  type TrackedResponse,
  type TrackedServer,
} from './tracked.ts';

/** The connections of one HTTP server. */
export interface Connections {
  count(): number;
  /** Number of requests being read or answered. */
  inFlight(): number;
  /** Bytes of their bodies and responses. */
  inFlightBytes(): number;
  /** Reserves bytes of a body until the response has been sent; false when there is no room for them. */
  holdBody(response: TrackedResponse, bytes: number): boolean;
  /**
   * Notes that the request has arrived and is being decided: the client is not to blame that nothing is sent meanwhile.
   */
  holdDecision(response: TrackedResponse): void;
  /** Reserves bytes of a response until it has been sent; the reservation of its request's body ends. */
  holdResponse(response: TrackedResponse, bytes: number): void;
  /** To be called when a connection has negotiated HTTP/2 in its TLS handshake. */
  carry(socket: TLSSocket, session: Http2Session): void;
  /** To be called when a request came over HTTP/2. */
  begin(request: Http2ServerRequest, response: TrackedHttp2Response): void;
  /** Accepts no more requests on the HTTP/2 connection of a response: sends GOAWAY, and finishes the other requests. */
  leave(response: TrackedResponse): void;
  /** Ends all connections, idle ones first; resolves when none are left. */
  drain(options: DrainOptions): Promise<{ cut: number }>;
}

/**
 * How many copies of a response are in memory: encryption makes a second one before the first byte is sent (node:tls
 * passes all of it to OpenSSL at once).
 */
const copiesOfResponse = 2;

/**
 * Tracks the connections of a server: closes those that time out or occupy room that others need, and drains them all
 * at shutdown. Node does not notice a response that is never read. The server must be created with `Http1Response`.
 */
export function trackConnections(
  server: TrackedServer,
  limits: ConnectionLimits,
  events: ConnectionEvents,
): Connections {
  const table = new ConnectionTable(limits.maxInFlightBytes);
  const { budget } = table;

  function evict(connection: Connection): void {
    events.evicted();
    table.cut(connection);
  }

  server.on('connection', (transport: Socket) => {
    if (table.size >= limits.maxConnections) {
      const going = victimOf(table, limits.stallTimeoutMs);
      if (going === undefined) {
        events.dropped();
        transport.destroy();
        return;
      }
      evict(going);
    }
    table.open(transport);
  });
  server.on('secureConnection', (socket: TLSSocket) => table.secure(socket));

  function settle(this: TrackedResponse): void {
    table.settle(this);
  }
  function begin(connection: Connection | undefined, response: TrackedResponse): void {
    if (connection !== undefined) {
      response.on('close', settle);
      table.begin(connection, response);
    }
  }
  server.prependListener('request', (request: IncomingMessage, response: Http1Response) => {
    begin(table.bySocket(request.socket), response);
  });
  // An unknown expectation. Node would respond without emitting an event, and the connection, which then seems never to
  // have had a request, would stay open for as long as its client likes.
  server.on('checkExpectation', (request: IncomingMessage, response: Http1Response) => {
    delete request.headers.expect;
    server.emit('request', request, response);
  });

  const timeouts = new Timeouts(table, limits, events);
  const checking = setInterval(() => timeouts.check(), limits.timeoutCheckMs);
  checking.unref();

  /**
   * Closes stalled connections until the bytes fit or none are left, so that stalled clients cannot use up the budget
   * of others.
   */
  function makeRoom(response: TrackedResponse, bytes: number): void {
    for (const connection of table.busy) {
      if (budget.fits(bytes, response.heldBytes)) {
        return;
      }
      if (connection !== response.carrier && connection.bytes > 0 && isStalled(connection, limits.stallTimeoutMs)) {
        evict(connection);
      }
    }
  }

  return {
    count: () => table.size,
    inFlight: () => table.requests,
    inFlightBytes: budget.held,
    holdBody(response, bytes) {
      makeRoom(response, bytes);
      if (!budget.fits(bytes, response.heldBytes)) {
        return false;
      }
      table.hold(response, bytes);
      return true;
    },
    holdDecision: (response) => table.deciding(response),
    holdResponse(response, bytes) {
      table.hold(response, copiesOfResponse * bytes - response.heldBytes);
      table.decided(response);
      if (isHttp2Response(response)) {
        response.respondingSince = performance.now();
      } else if (response.carrier !== undefined) {
        response.carrier.responding = true;
        response.carrier.since = performance.now();
      }
    },
    carry: (socket, session) => table.carry(socket, session),
    begin(request, response) {
      const { session } = request.stream;
      const connection = session === undefined ? undefined : table.bySession(session);
      connection?.streams.add(response);
      begin(connection, response);
    },
    leave({ carrier }) {
      if (carrier?.session !== undefined) {
        table.close(carrier);
      }
    },
    async drain(options) {
      const drained = await drain(server, table, options);
      clearInterval(checking);
      return drained;
    },
  };
}
