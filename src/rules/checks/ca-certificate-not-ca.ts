import { caBundleOf, caBundlePath } from '../ca-bundle.ts';
import { example, exampleCaBundle, exampleService, exampleServingCertificate } from '../examples/index.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'ca-certificate-not-ca',
  summary: 'Every certificate in caBundle is one of a certificate authority.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'caBundle',
  check({ object }, report) {
    for (const { subject, isCa } of caBundleOf(object)?.certificates ?? []) {
      if (!isCa) {
        const message = `the certificate of ${subject} is not one of a CA; put the certificate here that signed the server's`;
        report({ path: caBundlePath, reason: 'FieldValueInvalid', message });
      }
    }
  },
  example: {
    bad: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleServingCertificate } }),
    good: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
  },
};
