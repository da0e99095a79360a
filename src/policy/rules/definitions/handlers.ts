import { dns1123LabelProblems, formatFieldPath, showValue } from '../../../kubernetes/index.ts';
import {
  advisedTimeoutSeconds,
  compareReleases,
  exclusiveHooks,
  formatRelease,
  hookCatalog,
  hooksGroup,
  phaseIn,
} from '../../../runtimehooks/index.ts';
import { referencesTo } from '../../facts/store.ts';
import { groupVersionOf, nameHook, type PlacedHandler } from '../fields.ts';
import { overlapping, someOf, someReferences } from '../related.ts';
import type { ParsedInput, Reported, Rule, RuleOptions } from '../rule.ts';

interface HandlerRule extends Pick<Rule, 'id' | 'summary' | 'severity'> {
  field: readonly string[];
  findingOf(handler: PlacedHandler, options: RuleOptions, input: ParsedInput): Omit<Reported, 'path'> | undefined;
}

function handlerRule({ field, findingOf, ...rule }: HandlerRule): Rule {
  return {
    ...rule,
    subjects: ['object', 'status'],
    check(input, report, options) {
      for (const handler of input.handlers) {
        const finding = findingOf(handler, options, input);
        if (finding !== undefined) {
          report({ path: [...handler.path, ...field], ...finding });
        }
      }
    },
  };
}

/** The handlers that have the key of an earlier one, with the first of these; a handler without a key is alone. */
function repeated(handlers: readonly PlacedHandler[], keyOf: (handler: PlacedHandler) => string | undefined) {
  const groups = Map.groupBy(handlers, (handler) => keyOf(handler) ?? handler);
  return [...groups.values()].flatMap(([first, ...others]) =>
    others.map((other) => ({ first: first as PlacedHandler, other })),
  );
}

/** The hook of in-place updates that a handler serves, whatever its version: Cluster API counts them together. */
const inPlaceHookOf = ({ hook }: PlacedHandler) =>
  hook?.group === hooksGroup && exclusiveHooks.has(hook.name) ? hook.name : undefined;

export const handlersRules: readonly Rule[] = [
  handlerRule({
    id: 'handler-name',
    summary: 'The name of a handler is HANDLER.EXTENSIONCONFIG-NAME, with an RFC 1123 label for HANDLER.',
    severity: 'deny',
    field: ['name'],
    findingOf({ handler: { name: value = '' } }, _, { object: { metadata } }) {
      const suffix = `.${metadata.name}`;
      const isNamed = value.endsWith(suffix) && dns1123LabelProblems(value.slice(0, -suffix.length)).length === 0;
      const message = `must be HANDLER${suffix}, with lower case letters, digits and '-' (at most 63) for HANDLER`;
      // Without the object's name the suffix is unknown; a missing or too long name is reported by other rules.
      return isNamed || metadata.name === undefined ? undefined : { value, message };
    },
  }),
  {
    id: 'handler-name-unique',
    summary: 'No two handlers have the same name.',
    severity: 'deny',
    subjects: ['object', 'status'],
    check({ handlers }, report) {
      for (const { first, other } of repeated(handlers, ({ handler }) => handler.name ?? '')) {
        const message = `${formatFieldPath(first.path)} already has this name; rename or remove one of them`;
        const value = other.handler.name ?? '';
        report({ path: [...other.path, 'name'], reason: 'FieldValueDuplicate', value, message });
      }
    },
  },
  handlerRule({
    id: 'handler-hook-version',
    summary: 'requestHook.apiVersion of a handler is GROUP/VERSION.',
    severity: 'deny',
    field: ['requestHook', 'apiVersion'],
    findingOf: ({ handler: { requestHook: { apiVersion: value } = {} } }) =>
      value === undefined || groupVersionOf(value) !== undefined
        ? undefined
        : { value, message: 'must be GROUP/VERSION (e.g. hooks.runtime.cluster.x-k8s.io/v1alpha1)' },
  }),
  handlerRule({
    id: 'handler-timeout',
    summary: 'timeoutSeconds of a handler is between 1 and 10 (lint: maxHandlerTimeoutSeconds).',
    severity: 'deny',
    field: ['timeoutSeconds'],
    findingOf: ({ handler: { timeoutSeconds: value } }, { maxHandlerTimeoutSeconds = advisedTimeoutSeconds }) =>
      value === undefined || (value >= 1 && value <= maxHandlerTimeoutSeconds)
        ? undefined
        : {
            value,
            message: `must be between 1 and ${maxHandlerTimeoutSeconds} seconds; the extension server sets it in its Discovery response`,
          },
  }),
  handlerRule({
    id: 'handler-failure-policy',
    summary: 'failurePolicy of a handler is Ignore or Fail.',
    severity: 'deny',
    field: ['failurePolicy'],
    findingOf: ({ handler: { failurePolicy: value } }) =>
      value === undefined || value === 'Ignore' || value === 'Fail'
        ? undefined
        : { reason: 'FieldValueNotSupported', value, message: 'must be Ignore or Fail (the default)' },
  }),
  {
    id: 'handler-hook-singleton',
    summary: 'At most one handler serves a singleton hook.',
    severity: 'deny',
    subjects: ['object', 'status'],
    check({ handlers }, report) {
      const hookOf = ({ lifecycle }: PlacedHandler) => (lifecycle?.singleton ? nameHook(lifecycle) : undefined);
      for (const { first, other } of repeated(handlers, hookOf)) {
        report({
          path: [...other.path, 'requestHook', 'hook'],
          reason: 'FieldValueDuplicate',
          value: other.hook?.name,
          message: `handler ${showValue(first.handler.name ?? '')} already serves ${hookOf(other)}, which only one handler may serve; remove one of them`,
        });
      }
    },
  },
  {
    id: 'handler-named-by-class',
    summary: 'A status update does not remove a handler that a ClusterClass names.',
    severity: 'warn',
    subjects: ['status'],
    needs: 'facts',
    check({ object, handlers, oldObject, facts }, report) {
      const references = referencesTo(object.metadata.name ?? '', facts ?? {});
      if (references === undefined || oldObject === undefined) {
        return;
      }
      const offered = new Set(handlers.map(({ handler }) => handler.name));
      const before = new Set(oldObject.status?.handlers?.map(({ name }) => name));
      const dropped = references.filter(({ handler }) => before.has(handler) && !offered.has(handler));
      for (const [handler, places] of Map.groupBy(dropped, (one) => one.handler)) {
        report({
          path: ['status', 'handlers'],
          reason: 'FieldValueRequired',
          value: handler,
          message: `is no longer served, but is still named by ${someReferences(places)}, whose Clusters now fail; serve it again, or change the ClusterClass`,
        });
      }
    },
  },
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
  {
    id: 'handler-hook-in-place',
    summary: 'At most one handler serves a hook of in-place updates.',
    severity: 'warn',
    subjects: ['object', 'status'],
    check({ handlers }, report) {
      for (const { first, other } of repeated(handlers, inPlaceHookOf)) {
        report({
          path: [...other.path, 'requestHook', 'hook'],
          reason: 'FieldValueDuplicate',
          value: inPlaceHookOf(other),
          message: `handler ${showValue(first.handler.name ?? '')} already serves this hook, and Cluster API fails every in-place update when there are two; keep one of them`,
        });
      }
    },
  },
  {
    id: 'in-place-hook-twice',
    summary: 'No other ExtensionConfig has a handler for the same hook of in-place updates.',
    severity: 'warn',
    subjects: ['object', 'status'],
    needs: 'facts',
    check({ object, handlers, facts }, report) {
      if (facts?.extensionConfigs === undefined) {
        return;
      }
      // Once for each hook, however many handlers serve it.
      for (const [hook, [first]] of Map.groupBy(handlers, inPlaceHookOf)) {
        const others = overlapping(
          [...facts.extensionConfigs.values()].filter(({ hooks }) => hooks.includes(`${hook}.${hooksGroup}`)),
          object,
        );
        if (first !== undefined && hook !== undefined && others.length > 0) {
          report({
            path: [...first.path, 'requestHook', 'hook'],
            reason: 'FieldValueDuplicate',
            value: hook,
            message: `is served by ${someOf(others)} too, and Cluster API fails every in-place update when there are two; keep one of them`,
          });
        }
      }
    },
  },
];
