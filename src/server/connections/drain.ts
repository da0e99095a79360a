import type { ConnectionTable } from './connection-table.ts';
import type { TrackedServer } from './tracked.ts';

/** How to end the connections of a server that stops. */
export interface DrainOptions {
  /** Until this resolves, new connections are accepted and idle ones stay open. */
  closeAfter?: Promise<unknown> | undefined;
  /**
   * How long an idle connection stays open, in milliseconds, so that a request that is already on its way still gets a
   * response. For the same time new connections are accepted, unless all connections have closed before.
   */
  graceMs: number;
  /** After this many milliseconds, all waits included, the remaining connections are cut. */
  timeoutMs: number;
}

/** How often the remaining connections are checked during shutdown, in milliseconds. */
const drainCheckMs = 50;

/** Ends all connections, idle ones first; resolves when none are left, with the number that had to be cut. */
export async function drain(
  server: TrackedServer,
  table: ConnectionTable,
  { closeAfter, graceMs, timeoutMs }: DrainOptions,
): Promise<{ cut: number }> {
  const startedMs = performance.now();
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let cutCount = 0;
  let mayClose = closeAfter === undefined;
  let listens = true;
  function stopListening(): void {
    if (listens) {
      listens = false;
      // This also makes Node close idle connections; their grace period is over.
      server.close(() => resolve());
    }
  }
  function look(): void {
    if (!mayClose) {
      return;
    }
    const now = performance.now();
    if (table.size === 0 || now - startedMs >= graceMs) {
      stopListening();
    }
    for (const waiting of [table.fresh, table.idle]) {
      for (const connection of waiting) {
        if (now - Math.max(connection.since, startedMs) >= graceMs) {
          table.close(connection);
        }
      }
    }
  }
  // Only after everything that has arrived has been read: closing a socket with unread data resets it.
  const lookSoon = () => void setImmediate(look);
  const looking = setInterval(lookSoon, Math.min(drainCheckMs, timeoutMs));
  const cutAll = setTimeout(() => {
    stopListening();
    for (const state of [table.fresh, table.idle, table.busy]) {
      cutCount += state.size;
      for (const connection of state) {
        table.cut(connection);
      }
    }
  }, timeoutMs);
  closeAfter?.then(() => {
    mayClose = true;
    lookSoon();
  });
  lookSoon();
  await closed;
  clearInterval(looking);
  clearTimeout(cutAll);
  return { cut: cutCount };
}
