import { apiVersionOf, isExtensionConfig, kind, versionOf, versions } from '../../../extensionconfig/index.ts';
import { example } from '../examples/manifest.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'api-version-unknown',
  summary: 'The API version exists. (The API server rejects others before it calls any webhook.)',
  severity: 'deny',
  upstream: true,
  subjects: ['object'],
  check({ object, isPruned }, report) {
    // A webhook only sees versions that the API server serves.
    if (!isPruned && isExtensionConfig(object) && versionOf(object.apiVersion) === undefined) {
      report({
        path: ['apiVersion'],
        reason: 'FieldValueNotSupported',
        value: object.apiVersion,
        message: `is not a version of ${kind}; write ${versions.map(apiVersionOf).toReversed().join(' or ')}`,
      });
    }
  },
  example: { bad: example({ apiVersion: 'runtime.cluster.x-k8s.io/v1beta1' }), good: example() },
};
