import { exampleCaBundle, exampleFutureCaBundle } from '../examples/certificates.ts';
import { example, exampleService } from '../examples/manifest.ts';
import { caBundlePath, certificatesOf } from '../fields/ca-bundle.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'ca-certificate-not-yet-valid',
  summary: 'The validity of every certificate in caBundle has begun.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'caBundle',
  check({ object, now }, report) {
    for (const { subject, notBefore } of certificatesOf(object)) {
      if (notBefore > now.getTime()) {
        const message = `the certificate of ${subject} is not valid before ${new Date(notBefore).toISOString()}; check the clocks, or put the current one here`;
        report({ path: caBundlePath, reason: 'FieldValueInvalid', message });
      }
    }
  },
  example: {
    bad: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleFutureCaBundle } }),
    good: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
  },
};
