import { deprecationIn, formatRelease } from '../../../runtimehooks/index.ts';
import { deprecatedHook } from '../examples/hooks.ts';
import { example } from '../examples/manifest.ts';
import { knownHandlersOf, nameHook } from '../fields/handlers.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'hook-version-deprecated',
  summary: 'No handler serves a hook version that is deprecated in the targeted Cluster API release.',
  severity: 'warn',
  upstream: false,
  subjects: ['object', 'status'],
  about: 'handlers',
  check({ object }, report, options) {
    for (const { path, life } of knownHandlersOf(object, options)) {
      const deprecation = deprecationIn(life, options.clusterApi);
      if (deprecation === undefined) {
        continue;
      }
      const { since, supportedUntil } = deprecation;
      const until =
        supportedUntil === undefined
          ? 'any later release may remove it'
          : `supported at least until ${formatRelease(supportedUntil.release)} and ${supportedUntil.month}`;
      const remedy = life.replacedBy === undefined ? '' : `; serve ${nameHook(life.replacedBy)} instead`;
      report({
        path: [...path, 'requestHook', 'apiVersion'],
        reason: 'FieldValueInvalid',
        value: `${life.group}/${life.version}`,
        message: `${life.name} in this version has been deprecated since ${formatRelease(since.release)} (${since.date}), ${until}${remedy}`,
      });
    }
  },
  example: {
    bad: example({ handler: { requestHook: { apiVersion: 'hooks.example.com/v1beta1', hook: deprecatedHook } } }),
    good: example({ handler: { requestHook: { apiVersion: 'hooks.example.com/v1', hook: deprecatedHook } } }),
  },
};
