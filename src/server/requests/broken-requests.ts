import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';
import type { OpenExchange } from '../connections/connection.ts';
import type { Connections } from '../connections/connections.ts';
import { lateMessage, statusOf } from './refusal.ts';

/** How long a client may take to read why its request is refused, in milliseconds. */
const readingMs = 1_000;

/** HTTP status code, reason phrase and message for an error of Node's parser; undefined for any other error. */
function refusalOf(errorCode: string | undefined): [code: number, phrase: string, message: string] | undefined {
  if (errorCode === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return [408, 'Request Timeout', lateMessage];
  }
  if (errorCode === 'HPE_HEADER_OVERFLOW') {
    return [431, 'Request Header Fields Too Large', 'the header of the request is too large'];
  }
  return errorCode?.startsWith('HPE_') ? [400, 'Bad Request', 'the request is not valid HTTP/1.1'] : undefined;
}

/** Responds on connections on which no request could be read, since Node's own responses have no body. */
export function refuseBrokenRequests(server: Server, connections: Connections): void {
  // TLS errors arrive here too, before there is a request to respond to.
  server.on('clientError', ({ code: errorCode }: NodeJS.ErrnoException, socket: Duplex) => {
    const refusal = refusalOf(errorCode);
    const connection = connections.of(socket);
    // The client takes the next response for that to its first request, which may be another one that was valid.
    const isOwn = ({ hasArrived, respondingSince }: OpenExchange) => !hasArrived && respondingSince === undefined;
    if (refusal === undefined || !connection || ![...connection.exchanges].every(isOwn) || !socket.writable) {
      socket.destroy();
      return;
    }
    const [code, phrase, message] = refusal;
    const { text } = statusOf({ code, message });
    connections.events.refused(code);
    socket.end(
      `HTTP/1.1 ${code} ${phrase}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
    );
    // Close even if the client never reads the response.
    setTimeout(() => socket.destroy(), readingMs).unref();
  });
}
