/** A cache whose entries expire. */
export interface Cache<T> {
  get(key: string): T | undefined;
  set(key: string, value: T, lifeMs: number): void;
}

/** Maximum number of entries of a cache; the oldest is evicted first. */
const maxEntries = 10_000;

/** Creates a cache of at most 10,000 entries. */
export function createCache<T>(now: () => number): Cache<T> {
  const entries = new Map<string, { value: T; until: number }>();
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry !== undefined && entry.until <= now()) {
        entries.delete(key);
        return undefined;
      }
      return entry?.value;
    },
    set(key, value, lifeMs) {
      entries.delete(key);
      entries.set(key, { value, until: now() + lifeMs });
      const [oldest] = entries.keys();
      if (entries.size > maxEntries && oldest !== undefined) {
        entries.delete(oldest);
      }
    },
  };
}
