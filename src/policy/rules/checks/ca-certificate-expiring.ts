import { exampleCaBundle, exampleExpiredCaBundle } from '../examples/certificates.ts';
import { example, exampleService } from '../examples/manifest.ts';
import { caBundlePath, certificatesOf } from '../fields/ca-bundle.ts';
import type { Rule } from '../rule.ts';

/** How long before its expiry a certificate is reported, in milliseconds: 30 days. */
const notice = 30 * 24 * 60 * 60 * 1000;

export const rule: Rule = {
  id: 'ca-certificate-expiring',
  summary: 'No certificate in caBundle expires within 30 days.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'caBundle',
  check({ object, now }, report) {
    for (const { subject, notAfter } of certificatesOf(object)) {
      if (notAfter >= now.getTime() && notAfter < now.getTime() + notice) {
        const message = `the certificate of ${subject} expires on ${new Date(notAfter).toISOString()}; add its successor next to it now`;
        report({ path: caBundlePath, reason: 'FieldValueInvalid', message });
      }
    }
  },
  example: {
    bad: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleExpiredCaBundle } }),
    good: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
    // 17 days before the certificate expires.
    checkedAt: new Date('2020-12-15T00:00:00Z'),
  },
};
