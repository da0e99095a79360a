import { listByKeys } from '../schema.ts';
import { bareRequest, defineHooks, part, response } from './parts.ts';

export const discovery = defineHooks(
  { tags: ['Discovery'], calls: 'server' },
  {
    Discovery: {
      summary: 'Asks an extension server which handlers it has.',
      purpose:
        'Called for each ExtensionConfig when Cluster API starts, when the object changes and every ten minutes. The handlers in the answer replace those in its status; one bad handler makes Cluster API refuse the whole answer.',
      isQuestion: true,
      introduced: 2,
      request: bareRequest('A request for the handlers of an extension server.'),
      response: response('The handlers of an extension server.', {
        handlers: listByKeys(part('ExtensionHandler'), ['name'], 'The handlers; there may be none.'),
      }),
    },
  },
);
