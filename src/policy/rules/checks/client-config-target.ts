import { example, exampleService } from '../examples/manifest.ts';
import { isServiceDefined } from '../fields/service.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'client-config-target',
  summary: 'clientConfig has exactly one of url and service.',
  severity: 'deny',
  upstream: true,
  subjects: ['object'],
  check({ object }, report) {
    const clientConfig = object.spec?.clientConfig;
    const hasService = isServiceDefined(clientConfig?.service);
    if (!clientConfig?.url && !hasService) {
      report({
        path: ['spec', 'clientConfig'],
        reason: 'FieldValueRequired',
        message: 'set url (a server outside the cluster) or service (a Service in it)',
      });
    } else if (clientConfig?.url && hasService) {
      report({
        path: ['spec', 'clientConfig'],
        reason: 'FieldValueForbidden',
        message: 'url and service are both set; keep one and remove the other',
      });
    }
  },
  example: {
    bad: example({ clientConfig: { url: 'https://extensions.example.com', service: exampleService } }),
    good: example({ clientConfig: { service: exampleService } }),
  },
};
