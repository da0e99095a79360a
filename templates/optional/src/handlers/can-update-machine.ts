import { handler } from 'cluster-api-extension';
import { changes } from '../in-place.ts';

/** {{summary}} */
export const canUpdateMachine = handler('CanUpdateMachine', {
  name: 'can-update-machine',
  handle: async (request, { answer }) => {
    return answer.done(changes.machinePatches(request));
  },
});
