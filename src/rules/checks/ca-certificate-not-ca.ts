import { caBundleOf, caBundlePath } from '../ca-bundle.ts';
import { example, exampleService } from '../example.ts';
import { exampleCaBundle, exampleLeafCaBundle } from '../example-certificates.ts';
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
    bad: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleLeafCaBundle } }),
    good: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
  },
};
