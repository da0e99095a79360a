import { example, exampleHandler } from '../examples/manifest.ts';
import { handlersOf } from '../fields/handlers.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'handler-name-unique',
  summary: 'No two handlers have the same name.',
  severity: 'deny',
  upstream: false,
  subjects: ['object', 'status'],
  about: 'handlers',
  check({ object }, report) {
    const seen = new Map<string, number>();
    for (const [index, { handler, path }] of handlersOf(object).entries()) {
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
  example: {
    bad: example({ handlers: [exampleHandler(), exampleHandler()] }),
    good: example({ handlers: [exampleHandler(), exampleHandler({ name: 'quota.my-extension' })] }),
  },
};
