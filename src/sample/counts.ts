/**
 * Counts calls of handlers for Clusters, in bounded memory: the Cluster whose last call is the oldest is evicted first.
 */
export interface Counts {
  /** Returns the number of this call, counted from 1. */
  next(handler: string, cluster: string): number;
}

/** Maximum number of pairs of handler and Cluster. */
const maxEntries = 100_000;

/** Creates counters without counts. */
export function createCounts(max = maxEntries): Counts {
  const counts = new Map<string, number>();
  return {
    next(handler, cluster) {
      const key = `${handler} ${cluster}`;
      const count = (counts.get(key) ?? 0) + 1;
      counts.delete(key);
      counts.set(key, count);
      const [oldest] = counts.size > max ? counts.keys() : [];
      if (oldest !== undefined) {
        counts.delete(oldest);
      }
      return count;
    },
  };
}
