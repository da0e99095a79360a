import { caBundleOf, caBundlePath } from '../ca-bundle.ts';
import { example, exampleCaBundle, exampleCaBundleWithKey, exampleService } from '../examples/index.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'ca-bundle-private-key',
  summary: 'caBundle holds no private key.',
  severity: 'deny',
  upstream: false,
  subjects: ['object'],
  about: 'caBundle',
  check({ object }, report) {
    if (caBundleOf(object)?.hasPrivateKey) {
      const message =
        'holds a private key, which everybody who may read this object can now read; replace that key, and put only certificates here';
      report({ path: caBundlePath, reason: 'FieldValueForbidden', message });
    }
  },
  example: {
    bad: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundleWithKey } }),
    good: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
  },
};
