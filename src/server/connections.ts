import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of one HTTP server. */
export interface Connections {
  count(): number;
  inFlight(): number;
  /** Ends connections that carry no request; resolves when none is left, or when time is up and the rest was cut. */
  drain(timeoutMs: number): Promise<{ cut: number }>;
}

/**
 * Keeps account of a server's connections. Node's own list knows none that is still in its TLS handshake, and calls one
 * busy on which no request has begun; both would hold up a stop.
 */
export function trackConnections(server: Server): Connections {
  const sockets = new Set<Socket>();
  let requests = 0;
  // TCP sockets, of TLS ones the transport underneath.
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.prependListener('request', (_request: unknown, response: ServerResponse) => {
    requests++;
    response.once('close', () => {
      requests--;
    });
  });
  return {
    count: () => sockets.size,
    inFlight: () => requests,
    async drain(timeoutMs) {
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      // Refuses new connections and closes the idle ones.
      server.close(() => resolve());
      let cut = 0;
      const cutIfQuiet = setInterval(
        () => {
          // Nothing is being answered, so what is left never got as far as a request.
          if (requests === 0) {
            for (const socket of sockets) {
              socket.destroy();
            }
          }
        },
        Math.min(quietMs, timeoutMs),
      );
      const cutAll = setTimeout(() => {
        cut = sockets.size;
        for (const socket of sockets) {
          socket.destroy();
        }
      }, timeoutMs);
      await closed;
      clearInterval(cutIfQuiet);
      clearTimeout(cutAll);
      return { cut };
    },
  };
}

/** How long a connection that has just been made may take to send its first request while the server stops. */
const quietMs = 500;
