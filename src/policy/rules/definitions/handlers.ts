import { dns1123LabelProblems, formatFieldPath, showValue } from '../../../kubernetes/index.ts';
import { advisedTimeoutSeconds } from '../../../runtimehooks/index.ts';
import { referencesTo } from '../../facts/store.ts';
import { groupVersionOf, nameHook, type PlacedHandler } from '../fields/handlers.ts';
import { someReferences } from '../related.ts';
import type { Reported, Rule, RuleOptions } from '../rule.ts';

interface HandlerRule extends Pick<Rule, 'id' | 'summary' | 'severity'> {
  field: readonly string[];
  findingOf(handler: PlacedHandler, options: RuleOptions): Omit<Reported, 'path'> | undefined;
}

export function handlerRule({ field, findingOf, ...rule }: HandlerRule): Rule {
  return {
    ...rule,
    subjects: ['object', 'status'],
    check({ handlers }, report, options) {
      for (const handler of handlers) {
        const finding = findingOf(handler, options);
        if (finding !== undefined) {
          report({ path: [...handler.path, ...field], ...finding });
        }
      }
    },
  };
}

/** The handlers that have the key of an earlier one, with the first of these; a handler without a key is alone. */
export function repeated(handlers: readonly PlacedHandler[], keyOf: (handler: PlacedHandler) => string | undefined) {
  const groups = Map.groupBy(handlers, (handler) => keyOf(handler) ?? handler);
  return [...groups.values()].flatMap(([first, ...others]) =>
    others.map((other) => ({ first: first as PlacedHandler, other })),
  );
}

export const handlersRules: readonly Rule[] = [
  {
    id: 'handler-name',
    summary: 'The name of a handler is HANDLER.EXTENSIONCONFIG-NAME, with an RFC 1123 label for HANDLER.',
    severity: 'deny',
    subjects: ['object', 'status'],
    check({ object, handlers }, report) {
      const { name: objectName } = object.metadata;
      // Without the object's name the suffix is unknown; a missing or too long name is reported by other rules.
      if (objectName === undefined) {
        return;
      }
      const suffix = `.${objectName}`;
      for (const { handler, path } of handlers) {
        const name = handler.name ?? '';
        if (!name.endsWith(suffix) || dns1123LabelProblems(name.slice(0, -suffix.length)).length > 0) {
          report({
            path: [...path, 'name'],
            value: name,
            message: `must be HANDLER${suffix}, with lower case letters, digits and '-' (at most 63) for HANDLER`,
          });
        }
      }
    },
  },
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
    findingOf({ handler: { requestHook } }) {
      const value = requestHook?.apiVersion;
      return value === undefined || groupVersionOf(value) !== undefined
        ? undefined
        : {
            value,
            message: 'must be GROUP/VERSION (e.g. hooks.runtime.cluster.x-k8s.io/v1alpha1)',
          };
    },
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
      const missing = references.filter(({ handler }) => !offered.has(handler));
      // Then the old object need not be decoded.
      if (missing.length === 0) {
        return;
      }
      const before = new Set(oldObject.status?.handlers?.map(({ name }) => name));
      const dropped = Map.groupBy(
        missing.filter(({ handler }) => before.has(handler)),
        ({ handler }) => handler,
      );
      for (const [handler, places] of dropped) {
        report({
          path: ['status', 'handlers'],
          reason: 'FieldValueRequired',
          value: handler,
          message: `is no longer served, but is still named by ${someReferences(places)}, whose Clusters now fail; serve it again, or change the ClusterClass`,
        });
      }
    },
  },
];
