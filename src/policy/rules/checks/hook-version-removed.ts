import { formatRelease, phaseIn } from '../../../runtimehooks/index.ts';
import { removedHook } from '../examples/hooks.ts';
import { example } from '../examples/manifest.ts';
import { knownHandlersOf, nameHook } from '../fields/handlers.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'hook-version-removed',
  summary: 'No handler serves a hook version that the targeted Cluster API release no longer has.',
  severity: 'deny',
  upstream: false,
  subjects: ['object', 'status'],
  about: 'handlers',
  check({ object }, report, options) {
    for (const { path, life } of knownHandlersOf(object, options)) {
      if (life.removed !== undefined && phaseIn(life, options.clusterApi) === 'removed') {
        const remedy = life.replacedBy === undefined ? 'remove the handler' : `serve ${nameHook(life.replacedBy)}`;
        report({
          path: [...path, 'requestHook', 'apiVersion'],
          reason: 'FieldValueNotSupported',
          value: `${life.group}/${life.version}`,
          message: `${life.name} in this version was removed in Cluster API ${formatRelease(life.removed)} and is never called by ${formatRelease(options.clusterApi)}; ${remedy} instead`,
        });
      }
    }
  },
  example: {
    bad: example({ handler: { requestHook: { apiVersion: 'hooks.example.com/v1alpha1', hook: removedHook } } }),
    good: example({ handler: { requestHook: { apiVersion: 'hooks.example.com/v1beta1', hook: removedHook } } }),
  },
};
