import { showValue } from '../../../kubernetes/index.ts';
import { hooksGroup } from '../../../runtimehooks/index.ts';
import { example, exampleHandler } from '../examples/manifest.ts';
import { inPlaceHandlersOf } from '../fields/in-place-hooks.ts';
import type { Rule } from '../rule.ts';

const requestHook = { apiVersion: `${hooksGroup}/v1alpha1`, hook: 'UpdateMachine' };

export const rule: Rule = {
  id: 'handler-hook-in-place',
  summary: 'At most one handler serves a hook of in-place updates.',
  severity: 'warn',
  upstream: false,
  subjects: ['object', 'status'],
  about: 'handlers',
  check({ object }, report) {
    for (const [hook, [first, ...others]] of inPlaceHandlersOf(object)) {
      for (const { path } of others) {
        report({
          path: [...path, 'requestHook', 'hook'],
          reason: 'FieldValueDuplicate',
          value: hook,
          message: `handler ${showValue(first.handler.name ?? '')} already serves this hook, and Cluster API fails every in-place update when there are two; keep one of them`,
        });
      }
    }
  },
  example: {
    bad: example({
      handlers: [
        exampleHandler({ name: 'update.my-extension', requestHook }),
        exampleHandler({ name: 'update-2.my-extension', requestHook }),
      ],
    }),
    good: example({ handlers: [exampleHandler({ name: 'update.my-extension', requestHook })] }),
  },
};
