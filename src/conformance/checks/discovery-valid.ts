import type { Check } from '../check.ts';
import { describe, isSuccess, shownMessage } from '../heard.ts';

export const check: Check = {
  id: 'discovery-valid',
  group: 'Discovery',
  level: 'must',
  asks: 'Discovery answers with handlers that Cluster API takes, every one of them.',
  why: 'One handler that it does not take makes Cluster API refuse the whole extension.',
  remedy: 'correct the handlers; "discover" says more about each',
  async run({ discovery: { heard, problems } }, report) {
    if (!isSuccess(heard)) {
      const said = shownMessage(heard);
      report({ message: `Discovery ${describe(heard)}${said === '' ? '' : `: ${said}`}` });
    }
    for (const { handler, message } of problems) {
      report({ ...(handler === '' ? {} : { handler }), message });
    }
    return undefined;
  },
};
