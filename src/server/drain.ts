import type { ConnectionTable } from './connection-table.ts';
import type { TrackedServer } from './tracked.ts';

/** How connections end when a server stops. */
export interface DrainOptions {
  /** Until this resolves, new connections are accepted and idle ones stay open. */
  closeAfter?: Promise<unknown> | undefined;
  /**
   * How long an idle connection stays open, so that a request that is on its way to it is answered, in milliseconds.
   * For as long new connections are taken, unless there is none at all.
   */
  graceMs: number;
  /** After this many milliseconds, all waits included, the remaining connections are cut. */
  timeoutMs: number;
}

/** How often a stop checks the remaining connections, in milliseconds. */
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
      // Node closes idle connections with it; their grace period is over.
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
  // After everything that has arrived was read: closing a socket with unread data resets it.
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
