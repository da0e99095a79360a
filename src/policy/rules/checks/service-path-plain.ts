import { example, exampleService } from '../examples/manifest.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'service-path-plain',
  summary: 'service.path has no query and no fragment: Cluster API appends the path of each hook to it.',
  severity: 'deny',
  upstream: false,
  subjects: ['object'],
  about: 'service',
  check({ object }, report) {
    const value = object.spec?.clientConfig?.service?.path ?? '';
    const mark = /[?#]/.exec(value)?.[0];
    if (mark !== undefined) {
      const what = mark === '?' ? 'query' : 'fragment';
      report({
        path: ['spec', 'clientConfig', 'service', 'path'],
        reason: 'FieldValueInvalid',
        value,
        message: `has a ${what}; remove the "${mark}" and everything after it`,
      });
    }
  },
  example: {
    bad: example({ clientConfig: { service: { ...exampleService, path: '/hooks?tenant=a' } } }),
    good: example({ clientConfig: { service: { ...exampleService, path: '/hooks' } } }),
  },
};
