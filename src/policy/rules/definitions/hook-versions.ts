import { compareReleases, formatRelease, hookCatalog, phaseIn } from '../../../runtimehooks/index.ts';
import { nameHook } from '../fields/handlers.ts';
import type { Rule } from '../rule.ts';
import { handlerRule } from './handlers.ts';

export const hookVersionsRules: readonly Rule[] = [
  handlerRule({
    id: 'hook-version-removed',
    summary: 'No handler serves a hook version that the targeted Cluster API release has removed.',
    severity: 'deny',
    field: ['requestHook', 'apiVersion'],
    findingOf({ lifecycle }, { clusterApi }) {
      if (lifecycle?.removed === undefined || phaseIn(lifecycle, clusterApi) !== 'removed') {
        return undefined;
      }
      const remedy =
        lifecycle.replacedBy === undefined ? 'remove the handler' : `serve ${nameHook(lifecycle.replacedBy)}`;
      return {
        reason: 'FieldValueNotSupported',
        value: `${lifecycle.group}/${lifecycle.version}`,
        message: `${lifecycle.name} in this version was removed in Cluster API ${formatRelease(lifecycle.removed)} and is never called by ${formatRelease(clusterApi)}; ${remedy} instead`,
      };
    },
  }),
  handlerRule({
    id: 'hook-version-deprecated',
    summary: 'No handler serves a hook version that is deprecated in the targeted Cluster API release.',
    severity: 'warn',
    field: ['requestHook', 'apiVersion'],
    findingOf({ lifecycle }, { clusterApi }) {
      const { deprecated: since } = lifecycle ?? {};
      if (lifecycle === undefined || since === undefined || phaseIn(lifecycle, clusterApi) !== 'deprecated') {
        return undefined;
      }
      const remedy = lifecycle.replacedBy === undefined ? '' : `; serve ${nameHook(lifecycle.replacedBy)} instead`;
      return {
        value: `${lifecycle.group}/${lifecycle.version}`,
        message: `${lifecycle.name} in this version has been deprecated since ${formatRelease(since.release)} (${since.date}), any later release may remove it${remedy}`,
      };
    },
  }),
  handlerRule({
    id: 'hook-unknown',
    summary: 'Every hook that a handler serves is in the catalog.',
    severity: 'warn',
    field: ['requestHook', 'hook'],
    findingOf({ hook, lifecycle }, { hooks = hookCatalog }) {
      if (hook === undefined || lifecycle !== undefined) {
        return undefined;
      }
      const meant =
        hooks.findIgnoringCase(hook.group, hook.version, hook.name) ??
        hooks.findIgnoringCase(hook.group.replace('hook.', 'hooks.'), hook.version, hook.name);
      const remedy = meant === undefined ? 'check its group, version and name' : `did you mean ${nameHook(meant)}?`;
      return {
        reason: 'FieldValueNotFound',
        value: hook.name,
        message: `no such hook is known in ${hook.group}/${hook.version}; ${remedy}`,
      };
    },
  }),
  handlerRule({
    id: 'hook-too-new',
    summary: 'Every hook that a handler serves exists in the targeted Cluster API release.',
    severity: 'warn',
    field: ['requestHook', 'hook'],
    findingOf: ({ lifecycle }, { clusterApi }) =>
      lifecycle !== undefined && phaseIn(lifecycle, clusterApi) === 'future'
        ? {
            reason: 'FieldValueNotSupported',
            value: lifecycle.name,
            message: `was introduced in Cluster API ${formatRelease(lifecycle.introduced)}; ${formatRelease(clusterApi)} never calls it`,
          }
        : undefined,
  }),
  handlerRule({
    id: 'failure-policy-blocking',
    summary: 'A handler of a blocking hook has failurePolicy Fail.',
    severity: 'warn',
    field: ['failurePolicy'],
    findingOf: ({ handler, lifecycle }, { clusterApi }) =>
      handler.failurePolicy === 'Ignore' &&
      lifecycle?.blockingSince !== undefined &&
      compareReleases(clusterApi, lifecycle.blockingSince) >= 0
        ? {
            value: 'Ignore',
            message: `${lifecycle.name} is a blocking hook, but with Ignore an error of the handler lets the operation continue; use Fail`,
          }
        : undefined,
  }),
];
