import type { Check } from '../check.ts';
import { describe, difference, isSameAnswer, isSuccess } from '../heard.ts';

export const check: Check = {
  id: 'path-case',
  group: 'Calls',
  level: 'must',
  asks: 'Paths of hooks and handlers work in lower case; in upper case they give the same answer or none.',
  why: 'Cluster API always uses lower case, whatever discovery says; a path that does something else in another case is a trap.',
  remedy: 'compare paths in lower case',
  async run({ answering, call, second, isSteady, discover, discovery }, report) {
    const upper = (path: string) => {
      const [route = '', query = ''] = path.split('?');
      const parts = route.split('/');
      const last = parts.length - (route.endsWith('/discovery') ? 1 : 2);
      return `${parts.map((part, index) => (index >= last ? part.toUpperCase() : part)).join('/')}?${query}`;
    };
    if (discovery.heard.kind !== 'answer') {
      return { because: 'Discovery has no answer' };
    }
    const { heard: shouted } = await discover({ path: upper });
    if (isSuccess(shouted) && !isSameAnswer(discovery.heard, shouted)) {
      report({ message: `Discovery in upper case: ${difference(discovery.heard, shouted)}` });
    }
    const handlers = await answering();
    for (const handler of handlers) {
      const heard = await call(handler, { path: upper });
      const lower = await second(handler);
      if (heard.kind === 'failed' && heard.error.step !== 'decode') {
        report({ handler: handler.name, message: `called in upper case it ${describe(heard)}` });
      } else if (
        isSuccess(heard) &&
        !handler.hook.isBlocking &&
        !isSameAnswer(lower, heard) &&
        (await isSteady(handler))
      ) {
        report({ handler: handler.name, message: `called in upper case: ${difference(lower, heard)}` });
      }
    }
    return undefined;
  },
};
