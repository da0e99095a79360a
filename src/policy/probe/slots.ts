/** A semaphore: a number of slots, each of which one user can hold at a time. */
interface Slots {
  /** Resolves when a slot is free; rejects when the signal is aborted first. */
  take(signal: AbortSignal): Promise<void>;
  give(): void;
}

/** Creates slots, all of them free. */
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
