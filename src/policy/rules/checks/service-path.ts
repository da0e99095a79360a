import { parseRequestUri } from '../../../kubernetes/index.ts';
import { example, exampleService } from '../examples/manifest.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'service-path',
  summary: 'service.path is a URL path that begins with "/".',
  severity: 'deny',
  upstream: true,
  subjects: ['object'],
  about: 'service',
  check({ object }, report) {
    const value = object.spec?.clientConfig?.service?.path;
    if (!value) {
      return;
    }
    const path = ['spec', 'clientConfig', 'service', 'path'];
    const uri = parseRequestUri(value);
    if ('problem' in uri) {
      report({
        path,
        reason: 'FieldValueInvalid',
        value,
        message: `${uri.problem}; write a path like /runtime-extensions`,
      });
    }
    if (!value.startsWith('/')) {
      const message = 'must begin with "/"; the host comes from the Service and is not part of the path';
      report({ path, reason: 'FieldValueInvalid', value, message });
    }
  },
  example: {
    bad: example({ clientConfig: { service: { ...exampleService, path: 'runtime-extensions/' } } }),
    good: example({ clientConfig: { service: { ...exampleService, path: '/runtime-extensions/' } } }),
  },
};
