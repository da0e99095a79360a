import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2Session } from 'node:http2';
import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type ConnectionEvents, Connections } from './connections.ts';
import type { Limits } from './limits.ts';
import { endTimedOut } from './timeouts.ts';

/** Follows the connections of a server until it closes, and ends those that time out. */
export function trackConnections(server: Server, limits: Limits, events: ConnectionEvents): Connections {
  const connections = new Connections(limits, events);
  server.on('connection', (transport: Socket) => connections.open(transport));
  server.on('secureConnection', (socket: TLSSocket) => connections.secure(socket));
  server.on('session', (session: Http2Session) => connections.upgrade(session));
  // An unknown expectation. Node would respond without emitting a request, and the connection, which then seems never to
  // have had one, would stay open for as long as its client likes.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    delete request.headers.expect;
    server.emit('request', request, response);
  });
  const checking = setInterval(() => endTimedOut(connections), limits.timeoutCheckMs).unref();
  server.once('close', () => clearInterval(checking));
  return connections;
}
