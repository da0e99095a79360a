import { example } from '../examples/manifest.ts';
import { handlersOf } from '../fields/handlers.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'handler-timeout',
  summary: 'timeoutSeconds of a handler is between 1 and 10 (--max-handler-timeout-seconds).',
  severity: 'deny',
  upstream: false,
  subjects: ['object', 'status'],
  about: 'handlers',
  check({ object }, report, { maxHandlerTimeoutSeconds }) {
    for (const { handler, path } of handlersOf(object)) {
      const value = handler.timeoutSeconds;
      if (value !== undefined && !(value >= 1 && value <= maxHandlerTimeoutSeconds)) {
        report({
          path: [...path, 'timeoutSeconds'],
          reason: 'FieldValueInvalid',
          value,
          message: `must be between 1 and ${maxHandlerTimeoutSeconds} seconds; the extension server sets it in its Discovery response`,
        });
      }
    }
  },
  example: { bad: example({ handler: { timeoutSeconds: 30 } }), good: example({ handler: { timeoutSeconds: 10 } }) },
};
