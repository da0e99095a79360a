import type { Check } from '../check.ts';
import { describe, difference, isSameAnswer } from '../heard.ts';

export const check: Check = {
  id: 'content-type',
  group: 'Calls',
  level: 'must',
  asks: 'A call without a Content-Type gets the same answer as one with application/json.',
  why: 'Cluster API sends no Content-Type: body parsers that expect one see an empty body or reject the request.',
  remedy: 'parse every body as JSON, whatever its type (in Express: express.json({ type: () => true }))',
  async run({ handlers, second, isSteady, call, discovery, discover }, report) {
    const typed = await discover({ withContentType: true });
    if (discovery.heard.kind !== 'answer' && typed.heard.kind === 'answer') {
      report({ message: `Discovery without a Content-Type ${describe(discovery.heard)}` });
    }
    for (const handler of handlers) {
      const bare = await second(handler);
      if (bare.kind === 'failed') {
        continue;
      }
      const heard = await call(handler, { withContentType: true });
      if (bare.kind === 'refused' && heard.kind === 'answer') {
        report({ handler: handler.name, message: `without a Content-Type it ${describe(bare)}` });
      } else if (
        bare.kind === 'answer' &&
        !handler.hook.isBlocking &&
        !isSameAnswer(bare, heard) &&
        (heard.kind !== 'answer' || (await isSteady(handler)))
      ) {
        report({ handler: handler.name, message: `with and without a Content-Type ${difference(bare, heard)}` });
      }
    }
    return handlers.length === 0 && discovery.heard.kind !== 'answer' ? { because: 'nothing answers' } : undefined;
  },
};
