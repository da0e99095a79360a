import { answerUpdate, handler } from 'cluster-api-extension';
import { updater } from '../in-place.ts';

/** {{summary}} */
export const updateMachine = handler('UpdateMachine', {
  name: 'update-machine',
  handle: async (request, context) => {
    return answerUpdate(request, context, updater);
  },
});
