import { dns1035LabelProblems, dns1123LabelProblems } from '../../kubernetes/index.ts';
import { example, exampleService, exampleServiceObject } from '../examples/index.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'service-missing',
  summary: 'The Service exists.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'facts',
  check({ object, facts }, report) {
    const { namespace, name } = object.spec?.clientConfig?.service ?? {};
    // Names that no Service can have are another rule's, and no part of a command.
    const isName =
      namespace && name && dns1123LabelProblems(namespace).length === 0 && dns1035LabelProblems(name).length === 0;
    if (isName && facts?.services?.find(namespace, name) === 'absent') {
      report({
        path: ['spec', 'clientConfig', 'service', 'name'],
        reason: 'FieldValueNotFound',
        value: name,
        message: `there is no such Service, and no condition of Cluster API says so: look with kubectl -n ${namespace} get services`,
      });
    }
  },
  example: {
    context: [exampleServiceObject],
    bad: example({ clientConfig: { service: { ...exampleService, name: 'my-extensoin' } } }),
    good: example(),
  },
};
