import { showValue } from '../../../kubernetes/index.ts';
import { exclusiveHooks, hooksGroup } from '../../../runtimehooks/index.ts';
import type { PlacedHandler } from '../fields/handlers.ts';
import { overlapping, someOf } from '../related.ts';
import type { Rule } from '../rule.ts';
import { repeated } from './handlers.ts';

/** The hook of in-place updates that a handler serves, whatever its version: Cluster API counts them together. */
const inPlaceHookOf = ({ hook }: PlacedHandler) =>
  hook?.group === hooksGroup && exclusiveHooks.has(hook.name) ? hook.name : undefined;

export const inPlaceRules: readonly Rule[] = [
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
      const selector = object.spec?.namespaceSelector;
      // Once for each hook, however many handlers serve it.
      for (const [hook, [first]] of Map.groupBy(handlers, inPlaceHookOf)) {
        const others = overlapping(
          facts.extensionConfigs.values().filter(({ hooks }) => hooks.includes(`${hook}.${hooksGroup}`)),
          object.metadata.name,
          selector,
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
