import type { Collection, Store } from '../storage/store.ts';
import { eventStorage } from './events.ts';

/** How long an event is kept after it was last written, in milliseconds (apiserver, --event-ttl). */
const lifetime = 60 * 60 * 1_000;
/** Maximum number of events that are kept: the oldest are removed first. */
const maxEvents = 5_000;

/**
 * Removes events that have expired, and the oldest when there are too many.
 *
 * @returns a function that stops it.
 */
export function startEventController(
  { store }: { store: Store },
  limits: { lifetime: number; maxEvents: number } = { lifetime, maxEvents },
): () => void {
  const events: Collection = store.collection(eventStorage);
  /** When events expire, by the clock of performance.now(), the oldest first. */
  const expiries = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  function removeExpired(): void {
    timer = undefined;
    const now = performance.now();
    for (const [key, expiry] of expiries) {
      if (expiry > now) {
        timer = setTimeout(removeExpired, expiry - now + 1);
        return;
      }
      remove(key);
    }
  }
  function remove(key: string): void {
    expiries.delete(key);
    const event = events.get(key);
    if (event !== undefined) {
      events.delete(key, event);
    }
  }

  for (const [key] of events.list()) {
    expiries.set(key, performance.now() + limits.lifetime);
    timer ??= setTimeout(removeExpired, limits.lifetime);
  }
  const unsubscribe = events.subscribe(({ type, key }) => {
    expiries.delete(key);
    if (type === 'DELETED') {
      return;
    }
    expiries.set(key, performance.now() + limits.lifetime);
    timer ??= setTimeout(removeExpired, limits.lifetime);
    const [oldest] = expiries.size > limits.maxEvents ? expiries.keys() : [];
    if (oldest !== undefined) {
      expiries.delete(oldest);
      // Not during the write of another event: later subscribers would see the two changes in the wrong order.
      queueMicrotask(() => remove(oldest));
    }
  });
  return () => {
    unsubscribe();
    clearTimeout(timer);
  };
}
