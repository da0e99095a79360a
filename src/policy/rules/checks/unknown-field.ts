import { kind } from '../../../extensionconfig/index.ts';
import { example } from '../examples/manifest.ts';
import { allFieldsOf } from '../fields/metadata.ts';
import { forUnknownFields } from '../fields/unknown-fields.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'unknown-field',
  summary:
    'Every field exists in the API. (The API server prunes others before it calls any webhook; the linter does not.)',
  severity: 'deny',
  upstream: false,
  subjects: ['object', 'status'],
  check({ object, version, isPruned }, report) {
    if (isPruned) {
      return;
    }
    const message = `is not a field of ${kind} ${version}; kubectl rejects it, and the API server drops it`;
    forUnknownFields(object, allFieldsOf(version), (path) => {
      report({ path, reason: 'FieldValueForbidden', message });
    });
  },
  example: {
    bad: example({ spec: { namespaceselector: {} } }),
    good: example({ spec: { namespaceSelector: {} } }),
  },
};
