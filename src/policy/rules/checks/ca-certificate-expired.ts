import { exampleCaBundle, exampleExpiredCaBundle } from '../examples/certificates.ts';
import { example, exampleService } from '../examples/manifest.ts';
import { caBundlePath, certificatesOf } from '../fields/ca-bundle.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'ca-certificate-expired',
  summary: 'No certificate in caBundle has expired.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'caBundle',
  check({ object, now }, report) {
    for (const { subject, notAfter } of certificatesOf(object)) {
      if (notAfter < now.getTime()) {
        const message = `the certificate of ${subject} expired on ${new Date(notAfter).toISOString()}; put its successor here`;
        report({ path: caBundlePath, reason: 'FieldValueInvalid', message });
      }
    }
  },
  example: {
    bad: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleExpiredCaBundle } }),
    good: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
  },
};
