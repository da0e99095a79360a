import { handler } from 'cluster-api-extension';
import { changes } from '../in-place.ts';

/** {{summary}} */
export const canUpdateMachineSet = handler('CanUpdateMachineSet', {
  name: 'can-update-machine-set',
  handle: async (request, { answer }) => {
    return answer.done(changes.machineSetPatches(request));
  },
});
