/** A number of slots, of which each can be taken by one at a time. */
export interface Slots {
  /** Resolves when there is a slot; rejects when the signal is aborted before. */
  take(signal: AbortSignal): Promise<void>;
  give(): void;
}

/** Slots that are all free. */
export function createSlots(count: number): Slots {
  let free = count;
  const waiting = new Set<() => void>();
  return {
    take(signal) {
      if (free > 0) {
        free--;
        return Promise.resolve();
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const onAbort = () => {
        waiting.delete(next);
        reject(signal.reason as Error);
      };
      const next = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      waiting.add(next);
      signal.addEventListener('abort', onAbort, { once: true });
      return promise;
    },
    give() {
      const [next] = waiting;
      if (next === undefined) {
        free++;
      } else {
        waiting.delete(next);
        next();
      }
    },
  };
}
