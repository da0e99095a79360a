import { exampleCaBundle, exampleCaBundleWithKey } from '../examples/certificates.ts';
import { example, exampleService } from '../examples/manifest.ts';
import { caBundleOf, caBundlePath } from '../fields/ca-bundle.ts';
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
