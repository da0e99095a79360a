import { example, exampleService } from '../examples/index.ts';
import type { Rule } from '../rule.ts';
import { isServiceDefined } from '../service.ts';

export const rule: Rule = {
  id: 'service-path-plain',
  summary: 'service.path has no query and no fragment: Cluster API appends the path of each hook to it.',
  severity: 'deny',
  upstream: false,
  subjects: ['object'],
  about: 'service',
  check({ object }, report) {
    const service = object.spec?.clientConfig?.service;
    const at = service?.path?.search(/[?#]/) ?? -1;
    if (isServiceDefined(service) && at !== -1) {
      const what = service.path?.[at] === '?' ? 'query' : 'fragment';
      report({
        path: ['spec', 'clientConfig', 'service', 'path'],
        reason: 'FieldValueInvalid',
        value: service.path,
        message: `has a ${what}; remove the "${service.path?.[at]}" and everything after it`,
      });
    }
  },
  example: {
    bad: example({ clientConfig: { service: { ...exampleService, path: '/hooks?tenant=a' } } }),
    good: example({ clientConfig: { service: { ...exampleService, path: '/hooks' } } }),
  },
};
