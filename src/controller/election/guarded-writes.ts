import type { KubernetesClient } from '../../kubernetes/client/index.ts';

/**
 * Wraps a connection so that each write first checks whether it is allowed: a former leader never writes, not even when
 * its timers are late.
 *
 * @throws {Error} in place of a write that is not allowed.
 */
export function guardWrites(cluster: KubernetesClient, mayWrite: () => boolean): KubernetesClient {
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
