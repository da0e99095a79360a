import { isPortNumber } from '../../../kubernetes/index.ts';
import { example, exampleService } from '../examples/manifest.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'service-port',
  summary: 'service.port is between 1 and 65535.',
  severity: 'deny',
  upstream: true,
  subjects: ['object'],
  about: 'service',
  check({ object }, report) {
    const port = object.spec?.clientConfig?.service?.port;
    if (port !== undefined && !isPortNumber(port)) {
      report({
        path: ['spec', 'clientConfig', 'service', 'port'],
        reason: 'FieldValueInvalid',
        value: port,
        message: 'must be a port number between 1 and 65535',
      });
    }
  },
  example: {
    bad: example({ clientConfig: { service: { ...exampleService, port: 65536 } } }),
    good: example({ clientConfig: { service: { ...exampleService, port: 8443 } } }),
  },
};
