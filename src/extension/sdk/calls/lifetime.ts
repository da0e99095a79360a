/** The life of a server, for work that outlives a call. */
export interface Lifetime {
  /** Aborted when the server begins to stop. */
  readonly stopping: AbortSignal;
  /** Makes the server's stop wait for this work, as long as it may take. */
  waitUntil(work: Promise<unknown>): void;
}

/** A lifetime that a server ends. */
export interface EndedLifetime extends Lifetime {
  /**
   * Aborts `stopping` and waits for the work.
   *
   * @returns whether all of it ended in time.
   */
  end(timeoutMs: number): Promise<boolean>;
}

/** Creates a lifetime that begins now. */
export function createLifetime(): EndedLifetime {
  const controller = new AbortController();
  const pending = new Set<Promise<unknown>>();
  return {
    stopping: controller.signal,
    waitUntil(work) {
      // Whoever started the work handles its error.
      const ended = work.catch(() => {}).finally(() => pending.delete(ended));
      pending.add(ended);
    },
    async end(timeoutMs) {
      controller.abort(new DOMException('the extension stops', 'AbortError'));
      const timer = Promise.withResolvers<void>();
      const timeout = setTimeout(timer.resolve, timeoutMs);
      await Promise.race([Promise.all(pending), timer.promise]);
      clearTimeout(timeout);
      return pending.size === 0;
    },
  };
}
