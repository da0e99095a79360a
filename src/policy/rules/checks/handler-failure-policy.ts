import { example } from '../examples/manifest.ts';
import { handlersOf } from '../fields/handlers.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'handler-failure-policy',
  summary: 'failurePolicy of a handler is Ignore or Fail.',
  severity: 'deny',
  upstream: false,
  subjects: ['object', 'status'],
  about: 'handlers',
  check({ object }, report) {
    for (const { handler, path } of handlersOf(object)) {
      const value = handler.failurePolicy;
      if (value !== undefined && value !== 'Ignore' && value !== 'Fail') {
        const message = 'must be Ignore or Fail (the default)';
        report({ path: [...path, 'failurePolicy'], reason: 'FieldValueNotSupported', value, message });
      }
    }
  },
  example: {
    bad: example({ handler: { failurePolicy: 'Retry' } }),
    good: example({ handler: { failurePolicy: 'Fail' } }),
  },
};
