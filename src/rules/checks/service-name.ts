import { dns1035LabelProblems } from '../../kubernetes/index.ts';
import { example, exampleService } from '../examples/index.ts';
import type { Rule } from '../rule.ts';
import { isServiceDefined } from '../service.ts';

export const rule: Rule = {
  id: 'service-name',
  summary: 'service.name is set and is an RFC 1035 label, as every Service name is.',
  severity: 'deny',
  upstream: true,
  subjects: ['object'],
  about: 'service',
  check({ object }, report) {
    const service = object.spec?.clientConfig?.service;
    if (!isServiceDefined(service)) {
      return;
    }
    const path = ['spec', 'clientConfig', 'service', 'name'];
    const value = service.name ?? '';
    if (value === '') {
      report({ path, reason: 'FieldValueRequired', message: 'set the name of the Service' });
    }
    for (const message of dns1035LabelProblems(value)) {
      report({ path, reason: 'FieldValueInvalid', value, message });
    }
  },
  example: {
    bad: example({ clientConfig: { service: { ...exampleService, name: '1st-extension' } } }),
    good: example({ clientConfig: { service: { ...exampleService, name: 'first-extension' } } }),
  },
};
