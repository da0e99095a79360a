import { dns1123LabelProblems, showValue } from '../../../kubernetes/index.ts';
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
      const seen = new Map<string, number>();
      for (const [index, { handler, path }] of handlers.entries()) {
        const name = handler.name ?? '';
        const first = seen.get(name);
        if (first === undefined) {
          seen.set(name, index);
        } else {
          const message = `status.handlers[${first}] already has this name; rename or remove one of them`;
          report({ path: [...path, 'name'], reason: 'FieldValueDuplicate', value: name, message });
        }
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
    findingOf: ({ handler: { timeoutSeconds: value } }, { maxHandlerTimeoutSeconds }) =>
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
      const seen = new Map<string, string>();
      for (const { handler, path, lifecycle } of handlers) {
        if (!lifecycle?.singleton) {
          continue;
        }
        const hook = nameHook(lifecycle);
        const first = seen.get(hook);
        if (first === undefined) {
          seen.set(hook, handler.name ?? '');
        } else {
          report({
            path: [...path, 'requestHook', 'hook'],
            reason: 'FieldValueDuplicate',
            value: lifecycle.name,
            message: `handler ${showValue(first)} already serves ${hook}, which only one handler may serve; remove one of them`,
          });
        }
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
      const references = facts?.clusterClasses?.namingExtension(object.metadata.name ?? '');
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
