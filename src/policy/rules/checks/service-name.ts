import { dns1035LabelProblems } from '../../../kubernetes/index.ts';
import { example, exampleService } from '../examples/manifest.ts';
import { checkServiceLabel } from '../fields/service.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'service-name',
  summary: 'service.name is set and is an RFC 1035 label, like every Service name.',
  severity: 'deny',
  upstream: true,
  subjects: ['object'],
  about: 'service',
  check({ object }, report) {
    checkServiceLabel(object, 'name', dns1035LabelProblems, report);
  },
  example: {
    bad: example({ clientConfig: { service: { ...exampleService, name: '1st-extension' } } }),
    good: example({ clientConfig: { service: { ...exampleService, name: 'first-extension' } } }),
  },
};
