import { handler } from 'cluster-api-extension';

/** {{summary}} */
export const beforeClusterCreate = handler('BeforeClusterCreate', {
  name: 'before-cluster-create',
  handle: async ({ cluster }, { answer, log }) => {
    log.info({ uid: cluster.metadata?.uid }, 'called');
    // If there is something to wait for: return answer.retry(30, 'what it waits for');
    return answer.done();
  },
});
