import { example, exampleCaBundle, exampleCaBundleWithKey, exampleService } from '../examples/index.ts';
import { caBundleOf, caBundlePath } from '../fields/index.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'ca-bundle-private-key',
  summary: 'caBundle contains no private key.',
  severity: 'deny',
  upstream: false,
  subjects: ['object'],
  about: 'caBundle',
  check({ object }, report) {
    if (caBundleOf(object)?.hasPrivateKey) {
      const message =
        'contains a private key, which everyone with read access to this object can now read; replace that key, and put only certificates here';
      report({ path: caBundlePath, reason: 'FieldValueForbidden', message });
    }
  },
  example: {
    bad: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundleWithKey } }),
    good: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
  },
};
