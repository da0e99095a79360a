import { hooksGroup } from '../../hooks/index.ts';
import type { JsonObject } from '../../kubernetes/index.ts';
import { example, exampleHandler } from '../examples/index.ts';
import { handlersOf } from '../handlers.ts';
import { namespaceSelectorOf } from '../namespace-selector.ts';
import { overlapping, someOf } from '../related.ts';
import type { Rule } from '../rule.ts';

/** The hooks for which Cluster API wants one handler, and fails every decision when there are more. */
const inPlaceHooks: ReadonlySet<string> = new Set(['CanUpdateMachine', 'CanUpdateMachineSet', 'UpdateMachine']);

const canUpdate = (name: string): JsonObject =>
  exampleHandler({
    name: `can-update.${name}`,
    requestHook: { apiVersion: `${hooksGroup}/v1alpha1`, hook: 'CanUpdateMachine' },
  });

export const rule: Rule = {
  id: 'in-place-hook-twice',
  summary: 'No other ExtensionConfig has a handler for the same hook of in-place updates.',
  severity: 'warn',
  upstream: false,
  subjects: ['object', 'status'],
  about: 'facts',
  check({ object, facts }, report) {
    if (facts?.extensionConfigs === undefined) {
      return;
    }
    for (const { hook, path } of handlersOf(object)) {
      if (hook === undefined || hook.group !== hooksGroup || !inPlaceHooks.has(hook.name)) {
        continue;
      }
      const others = overlapping(
        facts.extensionConfigs.byHook(`${hook.name}.${hook.group}`),
        object.metadata.name,
        namespaceSelectorOf(object),
      );
      if (others.length > 0) {
        report({
          path: [...path, 'requestHook', 'hook'],
          reason: 'FieldValueDuplicate',
          value: hook.name,
          message: `is served by ${someOf(others)} too, and Cluster API fails every in-place update when there are two; keep one of them`,
        });
      }
    }
  },
  example: {
    context: [
      example({ name: 'other', handlers: [canUpdate('other')], clientConfig: { url: 'https://other.example.com' } }),
    ],
    bad: example({ handlers: [canUpdate('my-extension')] }),
    good: example({ handlers: [exampleHandler()] }),
  },
};
