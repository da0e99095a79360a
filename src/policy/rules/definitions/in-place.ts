import { showValue } from '../../../kubernetes/index.ts';
import { exclusiveHooks, hooksGroup } from '../../../runtimehooks/index.ts';
import type { PlacedHandler } from '../fields/handlers.ts';
import { overlapping, someOf } from '../related.ts';
import type { Rule } from '../rule.ts';

/** The handlers of each in-place update hook, at least one, whatever its version: Cluster API counts them together. */
function inPlaceHandlersOf(handlers: readonly PlacedHandler[]) {
  const ofHooks = handlers.filter(({ hook }) => hook?.group === hooksGroup && exclusiveHooks.has(hook.name));
  return Map.groupBy(ofHooks, ({ hook }) => hook?.name ?? '') as Map<string, [PlacedHandler, ...PlacedHandler[]]>;
}

export const inPlaceRules: readonly Rule[] = [
  {
    id: 'handler-hook-in-place',
    summary: 'At most one handler serves a hook of in-place updates.',
    severity: 'warn',
    subjects: ['object', 'status'],
    check({ handlers }, report) {
      for (const [hook, [first, ...others]] of inPlaceHandlersOf(handlers)) {
        for (const { path } of others) {
          report({
            path: [...path, 'requestHook', 'hook'],
            reason: 'FieldValueDuplicate',
            value: hook,
            message: `handler ${showValue(first.handler.name ?? '')} already serves this hook, and Cluster API fails every in-place update when there are two; keep one of them`,
          });
        }
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
      const selector = object.spec?.namespaceSelector;
      // Once for each hook, however many handlers serve it.
      for (const [hook, [first]] of inPlaceHandlersOf(handlers)) {
        const others = overlapping(
          facts.extensionConfigs.byHook(`${hook}.${hooksGroup}`),
          object.metadata.name,
          selector,
        );
        if (others.length > 0) {
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
