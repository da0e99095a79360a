import { deprecationIn, formatRelease, phaseIn } from '../../../runtimehooks/index.ts';
import { deprecatedHook, futureHook, removedHook } from '../examples/hooks.ts';
import { example } from '../examples/manifest.ts';
import { handlersOf, knownHandlersOf, nameHook } from '../fields/handlers.ts';
import type { Rule } from '../rule.ts';

export const hookVersionsRules: readonly Rule[] = [
  {
    id: 'hook-version-removed',
    summary: 'No handler serves a hook version that the targeted Cluster API release no longer has.',
    severity: 'deny',
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
  },
  {
    id: 'hook-version-deprecated',
    summary: 'No handler serves a hook version that is deprecated in the targeted Cluster API release.',
    severity: 'warn',
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
  },
  {
    id: 'hook-unknown',
    summary: "Every hook that a handler serves is in the catalog (--hook-lifecycles adds a provider's own).",
    severity: 'warn',
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
        handler: {
          requestHook: { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'BeforeClusterUpgrade' },
        },
      }),
    },
  },
  {
    id: 'hook-too-new',
    summary: 'Every hook that a handler serves exists in the targeted Cluster API release.',
    severity: 'warn',
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
        handler: {
          requestHook: { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'BeforeClusterUpgrade' },
        },
      }),
    },
  },
];
