import { handler } from 'cluster-api-extension';
import { variables } from '../variables.ts';

/** {{summary}} */
export const discoverVariables = handler('DiscoverVariables', {
  name: 'discover-variables',
  handle: async (_request, { answer }) => {
    return answer.done({ variables: variables.definitions });
  },
});
