import { formatGroupHook } from '../../../runtimehooks/index.ts';
import type { Check } from '../check.ts';

export const check: Check = {
  id: 'discovery-complete',
  group: 'Discovery',
  level: 'must',
  asks: 'Discovery offers handlers, each is served at its path, and in-place hooks have one handler each.',
  why: 'A handler that is offered but not served fails every reconcile; two handlers for an in-place hook make all in-place decisions fail.',
  remedy: 'serve each handler at /GROUP/VERSION/HOOK/NAME, in lower case and below the path of the clientConfig',
  async run({ discovery, handlers, first }, report) {
    if (discovery.heard.kind !== 'answer') {
      return { because: 'Discovery has no answer' };
    }
    if (discovery.handlers.length === 0) {
      report({ message: 'there are no handlers', isWarning: true });
    }
    const inPlace = new Map<string, string>();
    for (const { name, requestHook } of discovery.handlers) {
      const handler = name.slice(0, name.lastIndexOf('.'));
      const hook = formatGroupHook({ group: requestHook.apiVersion.split('/')[0] ?? '', name: requestHook.hook });
      const isInPlace = /^(?:CanUpdate|UpdateMachine)/.test(hook);
      const other = isInPlace ? inPlace.get(hook) : undefined;
      if (other !== undefined) {
        report({
          handler,
          message: `${other} serves ${requestHook.hook} too; Cluster API accepts only one handler for it`,
        });
      }
      inPlace.set(hook, handler);
    }
    for (const handler of handlers) {
      const heard = await first(handler);
      if (heard.kind === 'refused' && (heard.code === 404 || heard.code === 405)) {
        report({ handler: handler.name, message: `is offered, but its path answers HTTP ${heard.code}` });
      }
    }
    return undefined;
  },
};
