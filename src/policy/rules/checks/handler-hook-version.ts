import { example } from '../examples/manifest.ts';
import { groupVersionOf, handlersOf } from '../fields/handlers.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'handler-hook-version',
  summary: 'requestHook.apiVersion of a handler is GROUP/VERSION.',
  severity: 'deny',
  upstream: false,
  subjects: ['object', 'status'],
  about: 'handlers',
  check({ object }, report) {
    for (const { handler, path } of handlersOf(object)) {
      const value = handler.requestHook?.apiVersion;
      if (value !== undefined && groupVersionOf(value) === undefined) {
        report({
          path: [...path, 'requestHook', 'apiVersion'],
          reason: 'FieldValueInvalid',
          value,
          message: 'must be GROUP/VERSION (e.g. hooks.runtime.cluster.x-k8s.io/v1alpha1)',
        });
      }
    }
  },
  example: {
    bad: example({ handler: { requestHook: { apiVersion: 'v1alpha1', hook: 'BeforeClusterUpgrade' } } }),
    good: example({
      handler: { requestHook: { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'BeforeClusterUpgrade' } },
    }),
  },
};
