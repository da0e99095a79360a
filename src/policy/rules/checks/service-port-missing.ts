import { defaultServicePort } from '../../../extensionconfig/index.ts';
import { exampleServiceObject } from '../examples/cluster.ts';
import { example, exampleService } from '../examples/manifest.ts';
import { namedService } from '../fields/service.ts';
import { someOf } from '../related.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'service-port-missing',
  summary: 'The Service has the port.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'facts',
  check({ object, facts }, report) {
    const named = namedService(object);
    if (named === undefined) {
      return;
    }
    const service = facts?.services?.find(named.namespace, named.name);
    const port = object.spec?.clientConfig?.service?.port ?? defaultServicePort;
    if (service === undefined || service === 'absent' || service.ports.length === 0 || service.ports.includes(port)) {
      return;
    }
    report({
      path: ['spec', 'clientConfig', 'service', 'port'],
      reason: 'FieldValueNotFound',
      value: port,
      message: `the Service has no such TCP port, only ${someOf(service.ports.map(String))}: look with kubectl -n ${named.namespace} get service ${named.name}`,
    });
  },
  example: {
    context: [exampleServiceObject],
    bad: example({ clientConfig: { service: { ...exampleService, port: 9443 } } }),
    good: example(),
  },
};
