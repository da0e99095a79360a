import type { Check } from '../check.ts';
import { describe } from '../heard.ts';

export const check: Check = {
  id: 'answers-calls',
  group: 'Calls',
  level: 'must',
  asks: 'Every handler answers a call as Cluster API sends it: HTTP 200, JSON, fields of the right types, at most 2 MiB.',
  why: 'Anything else is a failed call: the reconcile fails and is retried, and Clusters wait.',
  remedy: 'answer failures with 200 too, with status Failure and a message; check the types of the fields',
  async run({ handlers, first, call }, report) {
    if (handlers.length === 0) {
      return { because: 'no handler is called' };
    }
    for (const handler of handlers) {
      const heard = await first(handler);
      if (heard.kind === 'answer' || (heard.kind === 'failed' && heard.error.step === 'timeout')) {
        // Timeouts are reported by another check.
        continue;
      }
      const typed = heard.kind === 'refused' ? await call(handler, { withContentType: true }) : undefined;
      if (typed?.kind !== 'answer') {
        report({ handler: handler.name, message: describe(heard) });
      }
    }
    return undefined;
  },
};
