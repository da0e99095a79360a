import { exampleCaBundle, exampleServingCertificate } from '../examples/certificates.ts';
import { example, exampleService } from '../examples/manifest.ts';
import { caBundlePath, certificatesOf } from '../fields/ca-bundle.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'ca-certificate-not-ca',
  summary: 'Every certificate in caBundle is a CA certificate.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'caBundle',
  check({ object }, report) {
    for (const { subject, isCa } of certificatesOf(object)) {
      if (!isCa) {
        const message = `the certificate of ${subject} is not a CA certificate; put the certificate of the CA that signed the serving certificate here`;
        report({ path: caBundlePath, reason: 'FieldValueInvalid', message });
      }
    }
  },
  example: {
    bad: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleServingCertificate } }),
    good: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
  },
};
