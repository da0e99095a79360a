import { createServer, type Http2ServerRequest } from 'node:http2';
import type { Server as HttpsServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import {
  type Connections,
  Http2Response,
  type TrackedRequest,
  type TrackedResponse,
  type TrackedServer,
} from './connections.ts';
import type { Limits } from './limits.ts';

/**
 * How much of a body a client may send ahead of its reading, in bytes: a request, and a connection with all its requests.
 * Bodies are read as they come and bounded by the limits; this is for the way there. RFC 9113's 64 KiB make large requests
 * wait for a round trip each.
 */
const windowBytes = { request: 256 * 1024, connection: 1024 * 1024 };

/**
 * How many requests a client may take back on a connection, at once and a second. Go's client takes one back when its time
 * is over; a client that makes requests to take them back (CVE-2023-44487) loses its connection.
 */
const resets = { streamResetBurst: 200, streamResetRate: 33 };

/**
 * Answers by HTTP/2 those callers of an HTTPS server that chose it in their TLS handshake. Others get what they got before,
 * by the same code: HTTP/1.1 by `node:http`, not by the compatibility mode of `node:http2`, which lacks timeouts that the
 * server has.
 */
export function serveHttp2(
  server: TrackedServer,
  connections: Connections,
  limits: Limits,
  application: (request: TrackedRequest, response: TrackedResponse) => void,
): void {
  // Never listens: it gets connections from the HTTPS server.
  const http2 = createServer({
    Http2ServerResponse: Http2Response,
    settings: {
      enablePush: false,
      maxConcurrentStreams: limits.maxStreams,
      maxHeaderListSize: limits.maxHeaderBytes,
      initialWindowSize: windowBytes.request,
    },
    ...resets,
  });
  const onRequest = (request: Http2ServerRequest, response: Http2Response) => {
    connections.begin(request, response);
    application(request, response);
  };
  http2.on('request', onRequest);
  // The application says 100 Continue, or refuses before a body is sent.
  http2.on('checkContinue', onRequest);
  let arriving: TLSSocket | undefined;
  http2.on('session', (session) => {
    if (arriving !== undefined) {
      connections.carry(arriving, session);
    }
    session.setLocalWindowSize(windowBytes.connection);
  });
  // Node's own listener, which is the first, speaks HTTP/1.1.
  const secure = server as unknown as HttpsServer;
  const [speakHttp1] = secure.listeners('secureConnection');
  if (speakHttp1 === undefined) {
    throw new Error('the server is not one of HTTPS');
  }
  secure.off('secureConnection', speakHttp1 as (socket: TLSSocket) => void);
  secure.on('secureConnection', (socket) => {
    if (socket.alpnProtocol !== 'h2') {
      speakHttp1.call(secure, socket);
    } else if (!socket.destroyed) {
      // The session begins, and is told of, within this call.
      arriving = socket;
      http2.emit('connection', socket);
      arriving = undefined;
    }
  });
}
