import type { Store } from '../storage/store.ts';
import { eventStorage } from './events.ts';

/** How long an event is kept after it was last written, in milliseconds (apiserver, --event-ttl). */
const lifetime = 60 * 60 * 1_000;
/** Maximum number of events that are kept: the oldest are removed first. */
const maxEvents = 5_000;

/** Removes events that have expired, and the oldest when there are too many. @returns a function that stops it. */
export function startEventController({ store }: { store: Store }, limits = { lifetime, maxEvents }): () => void {
  const events = store.collection(eventStorage);
  /** When events were last written, by the clock of performance.now(), the oldest first. */
  const written = new Map(events.list().map(([key]) => [key, performance.now()]));

  function remove(key: string): void {
    written.delete(key);
    const event = events.get(key);
    if (event !== undefined) {
      events.delete(key, event);
    }
  }
  const timer = setInterval(() => {
    for (const [key, time] of written) {
      if (time + limits.lifetime > performance.now()) {
        return;
      }
      remove(key);
    }
  }, limits.lifetime / 60);
  const unsubscribe = events.subscribe(({ type, key }) => {
    written.delete(key);
    if (type === 'DELETED') {
      return;
    }
    written.set(key, performance.now());
    const [oldest] = written.size > limits.maxEvents ? written.keys() : [];
    if (oldest !== undefined) {
      written.delete(oldest);
      // Not during the write of another event: later subscribers would see the two changes in the wrong order.
      queueMicrotask(() => remove(oldest));
    }
  });
  return () => {
    unsubscribe();
    clearInterval(timer);
  };
}
