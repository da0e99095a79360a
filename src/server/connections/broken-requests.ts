import type { IncomingMessage } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Refusal, readingMs, statusOf } from '../application/refusal.ts';
import type { Connections } from './connections.ts';

/** HTTP status code, reason phrase and message for an error of Node's parser; undefined for any other error. */
function refusalOf(errorCode: string | undefined): [code: number, phrase: string, message: string] | undefined {
  if (errorCode === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return [408, 'Request Timeout', 'the request did not arrive in time'];
  }
  if (errorCode === 'HPE_HEADER_OVERFLOW') {
    return [431, 'Request Header Fields Too Large', 'the header of the request is too large'];
  }
  return errorCode?.startsWith('HPE_') ? [400, 'Bad Request', 'the request is not valid HTTP/1.1'] : undefined;
}

/** Responds where Node would without a body, or not at all: to requests that cannot be read, and to CONNECT. */
export function refuseBrokenRequests(server: Server, connections: Connections): void {
  function refuse(socket: Duplex, code: number, phrase: string, message: string, headers = ''): void {
    const { text } = statusOf({ code, message });
    connections.events.refused(new Refusal(code, message), socket as Socket);
    socket.end(
      `HTTP/1.1 ${code} ${phrase}\r\n${headers}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
    );
    // Close even if the client never reads the response.
    setTimeout(() => socket.destroy(), readingMs).unref();
  }
  // TLS errors arrive here too, before there is a request to respond to.
  server.on('clientError', ({ code: errorCode }: NodeJS.ErrnoException, socket: Duplex) => {
    const refusal = refusalOf(errorCode);
    const connection = connections.of(socket);
    // The client takes the next response for that to its first request, which may be another one that was valid.
    const isOwn = connection?.responses.values().every(({ req, headersSent }) => !req.complete && !headersSent);
    if (refusal === undefined || !isOwn || !socket.writable) {
      socket.destroy();
      return;
    }
    refuse(socket, ...refusal);
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => {});
    refuse(socket, 405, 'Method Not Allowed', 'CONNECT is not supported here: use POST', 'allow: POST\r\n');
  });
}
