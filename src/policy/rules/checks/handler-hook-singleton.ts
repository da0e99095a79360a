import { showValue } from '../../../kubernetes/index.ts';
import { example, exampleHandler } from '../examples/manifest.ts';
import { knownHandlersOf, nameHook } from '../fields/handlers.ts';
import type { Rule } from '../rule.ts';

const discovery = { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'Discovery' };

export const rule: Rule = {
  id: 'handler-hook-singleton',
  summary: 'At most one handler serves a singleton hook.',
  severity: 'deny',
  upstream: false,
  subjects: ['object', 'status'],
  about: 'handlers',
  check({ object }, report, options) {
    const seen = new Map<string, string>();
    for (const { handler, path, life } of knownHandlersOf(object, options)) {
      if (!life.singleton) {
        continue;
      }
      const hook = nameHook(life);
      const first = seen.get(hook);
      if (first === undefined) {
        seen.set(hook, handler.name ?? '');
      } else {
        report({
          path: [...path, 'requestHook', 'hook'],
          reason: 'FieldValueDuplicate',
          value: life.name,
          message: `handler ${showValue(first)} already serves ${hook}, which only one handler may serve; remove one of them`,
        });
      }
    }
  },
  example: {
    bad: example({
      handlers: [
        exampleHandler({ name: 'discovery.my-extension', requestHook: discovery }),
        exampleHandler({ name: 'discovery-2.my-extension', requestHook: discovery }),
      ],
    }),
    good: example({ handlers: [exampleHandler({ name: 'discovery.my-extension', requestHook: discovery })] }),
  },
};
