import type { TrackedServer } from '../connections/tracked.ts';
import { rawRefusal } from './response.ts';

/** The response to a client whose request did not arrive in time. */
export const lateMessage = 'the request did not arrive in time';

/** Responds on connections on which no request could be read, since Node's own responses have no body. */
export function refuseBrokenRequests(server: TrackedServer, onRefused: (code: number) => void): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // TLS errors arrive here too, before there is a request to respond to. Once a response has begun, another one
    // cannot be sent.
    const isHttp = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' || error.code?.startsWith('HPE_') === true;
    const hasResponse = (socket as { _httpMessage?: { headersSent?: boolean } })._httpMessage?.headersSent === true;
    if (!isHttp || hasResponse || !socket.writable) {
      socket.destroy();
      return;
    }
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
      onRefused(408);
      socket.end(rawRefusal(408, 'Request Timeout', lateMessage));
    } else if (error.code === 'HPE_HEADER_OVERFLOW') {
      onRefused(431);
      socket.end(rawRefusal(431, 'Request Header Fields Too Large', 'the header of the request is too large'));
    } else {
      onRefused(400);
      socket.end(rawRefusal(400, 'Bad Request', 'the request is not valid HTTP/1.1'));
    }
    // Close even if the client never reads the response.
    setTimeout(() => socket.destroy(), 1_000).unref();
  });
}
