import { apiVersionOf, group, hubVersion, isExtensionConfig, kind } from '../../../extensionconfig/index.ts';
import { example } from '../examples/manifest.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'api-group',
  summary: 'An object of kind ExtensionConfig is in the API group runtime.cluster.x-k8s.io. (For the linter.)',
  severity: 'deny',
  upstream: false,
  subjects: ['object'],
  check({ object, isPruned }, report) {
    if (!isPruned && !isExtensionConfig(object)) {
      report({
        path: ['apiVersion'],
        reason: 'FieldValueNotSupported',
        value: object.apiVersion,
        message: `${kind} is a kind of ${group}; write ${apiVersionOf(hubVersion)}`,
      });
    }
  },
  example: { bad: example({ apiVersion: 'cluster.x-k8s.io/v1beta2' }), good: example() },
};
