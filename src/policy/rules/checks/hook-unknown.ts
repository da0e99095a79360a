import { example } from '../examples/manifest.ts';
import { handlersOf } from '../fields/handlers.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'hook-unknown',
  summary: "Every hook that a handler serves is in the catalog (--hook-lifecycles adds a provider's own).",
  severity: 'warn',
  upstream: false,
  subjects: ['object', 'status'],
  about: 'handlers',
  check({ object }, report, { hooks }) {
    for (const { hook, path } of handlersOf(object)) {
      if (hook === undefined || hooks.find(hook.group, hook.version, hook.name) !== undefined) {
        continue;
      }
      const meant =
        hooks.findIgnoringCase(hook.group, hook.version, hook.name) ??
        hooks.findIgnoringCase(hook.group.replace('hook.', 'hooks.'), hook.version, hook.name);
      const remedy =
        meant === undefined
          ? 'check its group, version and name, or describe it in a file for --hook-lifecycles'
          : `did you mean ${meant.name} (${meant.group}/${meant.version})?`;
      report({
        path: [...path, 'requestHook', 'hook'],
        reason: 'FieldValueNotFound',
        value: hook.name,
        message: `no such hook is known in ${hook.group}/${hook.version}; ${remedy}`,
      });
    }
  },
  example: {
    bad: example({
      handler: {
        requestHook: { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'BeforeClusterUpgraded' },
      },
    }),
    good: example({
      handler: { requestHook: { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'BeforeClusterUpgrade' } },
    }),
  },
};
