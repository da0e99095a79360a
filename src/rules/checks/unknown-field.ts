import { kind, openApiSchemaOf } from '../../api/index.ts';
import { example } from '../example.ts';
import type { Rule } from '../rule.ts';
import { unknownFieldsOf } from '../unknown-fields.ts';

export const rule: Rule = {
  id: 'unknown-field',
  summary:
    'Every field is one of the API. (The API server drops others before any webhook sees them; the linter does not.)',
  severity: 'warn',
  upstream: false,
  subjects: ['object', 'status'],
  check({ object, version, isPruned }, report) {
    if (isPruned) {
      return;
    }
    for (const path of unknownFieldsOf(object, openApiSchemaOf(version))) {
      const message = `is no field of ${kind} ${version}; kubectl refuses it, and the API server drops it`;
      report({ path, reason: 'FieldValueForbidden', message });
    }
  },
  example: {
    bad: example({ spec: { namespaceselector: {} } }),
    good: example({ spec: { namespaceSelector: {} } }),
  },
};
