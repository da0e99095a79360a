import type { Cluster } from '../cluster/index.ts';

/**
 * A connection that writes only while it is allowed to, which is checked before each write: a former leader never
 * writes, not even one whose timers were late.
 *
 * @throws {Error} instead of a write that is not allowed.
 */
export function guardWrites(cluster: Cluster, mayWrite: () => boolean): Cluster {
  return {
    ...cluster,
    async request(method, path, body) {
      if (method !== 'GET' && !mayWrite()) {
        throw new Error('another replica leads now; nothing is written');
      }
      return cluster.request(method, path, body);
    },
  };
}
