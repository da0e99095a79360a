import { exampleServiceObject } from '../examples/cluster.ts';
import { example, exampleService } from '../examples/manifest.ts';
import { namedService } from '../fields/service.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'service-missing',
  summary: 'The Service exists.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'facts',
  check({ object, facts }, report) {
    const service = namedService(object);
    if (service !== undefined && facts?.services?.find(service.namespace, service.name) === 'absent') {
      report({
        path: ['spec', 'clientConfig', 'service', 'name'],
        reason: 'FieldValueNotFound',
        value: service.name,
        message: `there is no such Service; Cluster API will not report this: look with kubectl -n ${service.namespace} get services`,
      });
    }
  },
  example: {
    context: [exampleServiceObject],
    bad: example({ clientConfig: { service: { ...exampleService, name: 'my-extensoin' } } }),
    good: example(),
  },
};
