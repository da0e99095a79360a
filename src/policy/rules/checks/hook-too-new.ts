import { formatRelease, phaseIn } from '../../../runtimehooks/index.ts';
import { futureHook } from '../examples/hooks.ts';
import { example } from '../examples/manifest.ts';
import { knownHandlersOf } from '../fields/handlers.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'hook-too-new',
  summary: 'Every hook that a handler serves exists in the targeted Cluster API release.',
  severity: 'warn',
  upstream: false,
  subjects: ['object', 'status'],
  about: 'handlers',
  check({ object }, report, options) {
    for (const { path, life } of knownHandlersOf(object, options)) {
      if (phaseIn(life, options.clusterApi) === 'future') {
        report({
          path: [...path, 'requestHook', 'hook'],
          reason: 'FieldValueNotSupported',
          value: life.name,
          message: `was introduced in Cluster API ${formatRelease(life.introduced)}; ${formatRelease(options.clusterApi)} never calls it`,
        });
      }
    }
  },
  example: {
    bad: example({ handler: { requestHook: { apiVersion: 'hooks.example.com/v1', hook: futureHook } } }),
    good: example({
      handler: { requestHook: { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'BeforeClusterUpgrade' } },
    }),
  },
};
