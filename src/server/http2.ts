import { createServer, type Http2ServerRequest } from 'node:http2';
import type { Server as HttpsServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { Connections } from './connections/connections.ts';
import type { Limits } from './connections/limits.ts';
import type { TrackedRequest, TrackedResponse, TrackedServer } from './connections/tracked.ts';
import { Http2Response } from './http2-response.ts';

/**
 * Flow-control windows, in bytes, for a request and for a connection with all its requests: how much a client may send
 * before the server has read it. The limits bound what is kept in memory; the windows only what is in transit. With the
 * 64 KiB of RFC 9113 a large request waits for a round trip again and again.
 */
const windowBytes = { request: 256 * 1024, connection: 1024 * 1024 };

/**
 * How many requests a client may cancel on a connection: at once, and per second. Go's client cancels one when its timeout
 * expires; a client that makes requests only to cancel them (CVE-2023-44487) loses its connection.
 */
const resets = { streamResetBurst: 200, streamResetRate: 33 };

/**
 * Serves HTTP/2 to the clients of an HTTPS server that negotiate it in their TLS handshake. HTTP/1.1 is still served by
 * `node:http`, not by the compatibility mode of `node:http2`, which lacks timeouts that the server has.
 */
export function serveHttp2(
  server: TrackedServer,
  connections: Connections,
  limits: Limits,
  application: (request: TrackedRequest, response: TrackedResponse) => void,
): void {
  // Never listens: the HTTPS server passes connections on to it.
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
  // The application sends 100 Continue, or refuses before a body is sent.
  http2.on('checkContinue', onRequest);
  let arriving: TLSSocket | undefined;
  http2.on('session', (session) => {
    if (arriving !== undefined) {
      connections.carry(arriving, session);
    }
    session.setLocalWindowSize(windowBytes.connection);
  });
  // Node's own listener, which comes first, speaks HTTP/1.1.
  const secure = server as unknown as HttpsServer;
  const [speakHttp1] = secure.listeners('secureConnection');
  if (speakHttp1 === undefined) {
    throw new Error('not an HTTPS server');
  }
  secure.off('secureConnection', speakHttp1 as (socket: TLSSocket) => void);
  secure.on('secureConnection', (socket) => {
    if (socket.alpnProtocol !== 'h2') {
      speakHttp1.call(secure, socket);
    } else if (!socket.destroyed) {
      // The session begins, and its event is emitted, within this call.
      arriving = socket;
      http2.emit('connection', socket);
      arriving = undefined;
    }
  });
}
