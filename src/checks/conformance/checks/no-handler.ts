import type { Check } from '../check.ts';
import { describe, isSuccess } from '../heard.ts';

export const check: Check = {
  id: 'no-handler',
  group: 'Calls',
  level: 'must',
  asks: 'A path without a handler gets a 404, or anything but Success.',
  why: 'If a server answers everything with Success, a wrong path or a renamed handler goes unnoticed and nothing is done.',
  remedy: 'answer 404 for paths without a handler',
  async run({ discover, discovery }, report) {
    if (discovery.heard.kind !== 'answer') {
      return { because: 'Discovery has no answer' };
    }
    const { heard } = await discover({
      path: (path) => path.replace('/discovery?', '/conformance-no-such-hook/none?'),
    });
    if (isSuccess(heard)) {
      report({ message: 'a path without a handler answers Success' });
    } else if (heard.kind === 'failed') {
      report({ message: `a path without a handler ${describe(heard)}`, isWarning: heard.error.step === 'decode' });
    }
    return undefined;
  },
};
