import { handler } from 'cluster-api-extension';

/** {{summary}} */
export const afterControlPlaneInitialized = handler('AfterControlPlaneInitialized', {
  name: 'after-control-plane-initialized',
  handle: async ({ cluster }, { answer, log }) => {
    log.info({ uid: cluster.metadata.uid }, 'called');
    return answer.done();
  },
});
