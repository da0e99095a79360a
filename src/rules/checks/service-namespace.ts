import { dns1123LabelProblems } from '../../kubernetes/index.ts';
import { example, exampleService } from '../examples/index.ts';
import type { Rule } from '../rule.ts';
import { isServiceDefined } from '../service.ts';

export const rule: Rule = {
  id: 'service-namespace',
  summary: 'service.namespace is set and is an RFC 1123 label.',
  severity: 'deny',
  upstream: true,
  subjects: ['object'],
  about: 'service',
  check({ object }, report) {
    const service = object.spec?.clientConfig?.service;
    if (!isServiceDefined(service)) {
      return;
    }
    const path = ['spec', 'clientConfig', 'service', 'namespace'];
    const value = service.namespace ?? '';
    if (value === '') {
      report({ path, reason: 'FieldValueRequired', message: 'set the namespace of the Service' });
    }
    for (const message of dns1123LabelProblems(value)) {
      report({ path, reason: 'FieldValueInvalid', value, message });
    }
  },
  example: {
    bad: example({ clientConfig: { service: { ...exampleService, namespace: 'CAPI_Extensions' } } }),
    good: example({ clientConfig: { service: { ...exampleService, namespace: 'capi-extensions' } } }),
  },
};
