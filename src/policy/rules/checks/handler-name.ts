import { dns1123LabelProblems } from '../../../kubernetes/index.ts';
import { example } from '../examples/manifest.ts';
import { handlersOf } from '../fields/handlers.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'handler-name',
  summary: 'The name of a handler is HANDLER.EXTENSIONCONFIG-NAME, with an RFC 1123 label for HANDLER.',
  severity: 'deny',
  upstream: false,
  subjects: ['object', 'status'],
  about: 'handlers',
  check({ object }, report) {
    const { name: objectName } = object.metadata;
    // Without the object's name the suffix is unknown; a missing or too long name is reported by other rules.
    if (objectName === undefined) {
      return;
    }
    const suffix = `.${objectName}`;
    for (const { handler, path } of handlersOf(object)) {
      const name = handler.name ?? '';
      if (!name.endsWith(suffix) || dns1123LabelProblems(name.slice(0, -suffix.length)).length > 0) {
        report({
          path: [...path, 'name'],
          reason: 'FieldValueInvalid',
          value: name,
          message: `must be HANDLER${suffix}, with lower case letters, digits and '-' (at most 63) for HANDLER`,
        });
      }
    }
  },
  example: {
    bad: example({ handler: { name: 'before-upgrade' } }),
    good: example({ handler: { name: 'before-upgrade.my-extension' } }),
  },
};
