import { handler } from 'cluster-api-extension';

/** {{summary}} */
export const validateTopology = handler('ValidateTopology', {
  name: 'validate-topology',
  handle: async ({ items }, { answer }) => {
    // If something is wrong, tell users: return answer.fail(…);
    return items.length > 0 ? answer.done() : answer.fail('the Cluster has no templates');
  },
});
