import type { Server } from 'node:net';
import type { Connections } from './connections.ts';

export interface StopOptions {
  /** Until this resolves, new connections are accepted, so that a response can tell clients that the server stops. */
  closeAfter?: Promise<unknown> | undefined;
  /**
   * How long an idle connection stays open for a request that may be on its way, and new connections are accepted while
   * there are any, in milliseconds; default: 2,000.
   */
  graceMs?: number | undefined;
  /** After this many milliseconds, all waits included, the remaining connections are cut. */
  timeoutMs: number;
}

/** Longer than the pauses on a busy connection, but short enough for someone waiting at the keyboard. */
const defaultGraceMs = 2_000;
/** How often the remaining connections are checked during shutdown, in milliseconds. */
const drainCheckMs = 50;

/** Ends all connections, idle ones first; resolves when none are left, with the number that had to be cut. */
export async function drain(
  server: Server,
  connections: Connections,
  { closeAfter, graceMs = defaultGraceMs, timeoutMs }: StopOptions,
): Promise<{ cut: number }> {
  const startedMs = performance.now();
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let cutCount = 0;
  let mayClose = closeAfter === undefined;
  let listens = true;
  connections.drain();
  function stopListening(): void {
    if (listens) {
      listens = false;
      // This also makes Node close idle connections; their grace period is over.
      server.close(() => resolve());
    }
  }
  function closeIdle(): void {
    if (!mayClose) {
      return;
    }
    const now = performance.now();
    if (connections.open.size === 0 || now - startedMs >= graceMs) {
      stopListening();
    }
    for (const connection of connections.open) {
      if (connection.responses.size === 0 && now - Math.max(connection.since, startedMs) >= graceMs) {
        connections.close(connection);
      }
    }
  }
  // Only after everything that has arrived has been read: closing a socket with unread data resets it.
  const closeIdleSoon = () => void setImmediate(closeIdle);
  const checking = setInterval(closeIdleSoon, Math.min(drainCheckMs, timeoutMs));
  const cutAll = setTimeout(() => {
    stopListening();
    for (const connection of connections.open) {
      cutCount++;
      connections.cut(connection);
    }
  }, timeoutMs);
  closeAfter?.then(() => {
    mayClose = true;
    closeIdleSoon();
  });
  closeIdleSoon();
  await closed;
  clearInterval(checking);
  clearTimeout(cutAll);
  return { cut: cutCount };
}
