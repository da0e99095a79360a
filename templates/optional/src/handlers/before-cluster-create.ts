import { handler } from 'cluster-api-extension';

/** {{summary}} */
export const beforeClusterCreate = handler('BeforeClusterCreate', {
  name: 'before-cluster-create',
  handle: async ({ cluster }, { answer, log }) => {
    log.info({ uid: cluster.metadata.uid }, 'called');
    // If there is work to wait for (../jobs.ts runs it once, whatever the number of replicas):
    // return jobs.answer(context, { key: '1', message: 'what it waits for', cluster });
    return answer.done();
  },
});
