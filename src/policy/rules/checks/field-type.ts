import { example, exampleService } from '../examples/manifest.ts';
import type { Finding, Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'field-type',
  summary: 'Every field has the JSON type that the API defines.',
  severity: 'deny',
  // Cluster API cannot even decode such an object.
  upstream: true,
  subjects: ['object', 'status'],
  about: 'violations',
  check({ violations }, report) {
    for (const { path, problem, value, message } of violations) {
      // Every decoder in Kubernetes treats null as an absent field; only the schema rejects it.
      if (problem === 'type' && value !== null) {
        const finding: Finding = { path, reason: 'FieldValueTypeInvalid', value, message };
        report(path.length === 0 ? { ...finding, verbatim: true } : finding);
      }
    }
  },
  example: {
    bad: example({ clientConfig: { service: { ...exampleService, port: '8443' } } }),
    good: example({ clientConfig: { service: { ...exampleService, port: 8443 } } }),
  },
};
