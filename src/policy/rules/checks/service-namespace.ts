import { dns1123LabelProblems } from '../../../kubernetes/index.ts';
import { example, exampleService } from '../examples/manifest.ts';
import { checkServiceLabel } from '../fields/service.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'service-namespace',
  summary: 'service.namespace is set and is an RFC 1123 label.',
  severity: 'deny',
  upstream: true,
  subjects: ['object'],
  about: 'service',
  check({ object }, report) {
    checkServiceLabel(object, 'namespace', dns1123LabelProblems, report);
  },
  example: {
    bad: example({ clientConfig: { service: { ...exampleService, namespace: 'CAPI_Extensions' } } }),
    good: example({ clientConfig: { service: { ...exampleService, namespace: 'capi-extensions' } } }),
  },
};
