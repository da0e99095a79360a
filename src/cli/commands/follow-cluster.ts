import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { type Watching, type WatchingOptions, watchCluster } from '../../policy/cluster-facts/index.ts';

/** Watches a cluster for the rules that use facts about it, and logs problems. */
export function followCluster(
  config: KubeConfig,
  log: Logger,
  options: Partial<Omit<WatchingOptions, 'config'>> = {},
): Watching {
  return watchCluster({
    config,
    onProblem(kind, problem) {
      if (problem === undefined) {
        log.info({ kind }, 'facts about the cluster are up to date again');
      } else {
        log.warn(
          { kind, problem },
          'facts about the cluster may be stale or missing, so rules that need them may report nothing',
        );
      }
    },
    ...options,
  });
}
