import { LRUCache } from 'lru-cache';

export interface Cache<T> {
  get(key: string): T | undefined;
  set(key: string, value: T, lifeMs: number): void;
}

/** Creates a cache of at most 10,000 entries; what was not used for longest is evicted first. */
export function createCache<T>(now: () => number): Cache<T> {
  const entries = new LRUCache<string, { value: T; until: number }>({ max: 10_000 });
  return {
    get(key) {
      const entry = entries.get(key);
      return entry !== undefined && entry.until > now() ? entry.value : undefined;
    },
    set(key, value, lifeMs) {
      entries.set(key, { value, until: now() + lifeMs });
    },
  };
}
