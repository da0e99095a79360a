/** The life of a server, for work that outlives a call. */
export interface Lifetime {
  /** Aborted when the server begins to stop. */
  readonly stopping: AbortSignal;
  /** Makes the server's stop wait for this work, as long as it may take; the log names it if that is too long. */
  waitUntil(work: Promise<unknown>, name?: string): void;
}

export interface EndedLifetime extends Lifetime {
  /** Aborts `stopping`, waits for the work, and returns the names of that which did not end in time. */
  end(timeoutMs: number): Promise<readonly string[]>;
}

/** Creates a lifetime that begins now. */
export function createLifetime(): EndedLifetime {
  const controller = new AbortController();
  const pending = new Map<Promise<unknown>, string>();
  return {
    stopping: controller.signal,
    waitUntil(work, name = 'work without a name') {
      // Whoever started the work handles its error.
      const ended = work.catch(() => {}).finally(() => pending.delete(ended));
      pending.set(ended, name);
    },
    async end(timeoutMs) {
      controller.abort(new DOMException('the extension stops', 'AbortError'));
      const timer = Promise.withResolvers<void>();
      const timeout = setTimeout(timer.resolve, timeoutMs);
      await Promise.race([Promise.all(pending.keys()), timer.promise]);
      clearTimeout(timeout);
      return [...pending.values()];
    },
  };
}
