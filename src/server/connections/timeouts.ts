import type { Server } from 'node:net';
import type { Connections } from './connections.ts';

/**
 * Closes connections that have been idle for too long, and cuts those on which a response is not read, which Node does not
 * limit. Before the first request, the timeout is Node's.
 */
export function closeTimedOut(server: Server, connections: Connections): void {
  const { requestTimeoutMs, responseTimeoutMs, keepAliveTimeoutMs, timeoutCheckMs } = connections.limits;
  const checking = setInterval(() => {
    const now = performance.now();
    for (const connection of connections.open) {
      const waitedMs = now - connection.since;
      if (connection.responses.size === 0) {
        if (waitedMs >= keepAliveTimeoutMs) {
          connections.close(connection);
        }
      } else if (waitedMs >= requestTimeoutMs + responseTimeoutMs) {
        connections.events.responseDropped();
        connections.cut(connection);
      }
    }
  }, timeoutCheckMs).unref();
  server.once('close', () => clearInterval(checking));
}
