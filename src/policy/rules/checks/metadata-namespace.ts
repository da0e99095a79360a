import { kind } from '../../../extensionconfig/index.ts';
import { example } from '../examples/manifest.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'metadata-namespace',
  summary: 'metadata.namespace is not set: ExtensionConfigs are cluster-scoped, and the API server drops it.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  check({ object: { metadata } }, report) {
    if (metadata.namespace) {
      report({
        path: ['metadata', 'namespace'],
        reason: 'FieldValueForbidden',
        value: metadata.namespace,
        message: `${kind}s are cluster-scoped, so the API server drops this: remove it`,
      });
    }
  },
  example: { bad: example({ metadata: { namespace: 'capi-system' } }), good: example() },
};
