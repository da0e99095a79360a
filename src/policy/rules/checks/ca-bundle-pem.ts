import { exampleCaBundle } from '../examples/certificates.ts';
import { example, exampleService } from '../examples/manifest.ts';
import { caBundleOf, caBundlePath } from '../fields/ca-bundle.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'ca-bundle-pem',
  summary: 'caBundle is the base64 of PEM certificates.',
  severity: 'deny',
  upstream: false,
  subjects: ['object'],
  about: 'caBundle',
  check({ object }, report) {
    const problem = caBundleOf(object)?.problem;
    if (problem !== undefined) {
      // The value is not shown: it is long, and may be a secret that got here by mistake.
      const message = `${problem}; put the base64 of the CA's PEM file (-----BEGIN CERTIFICATE-----) here, as "base64 -w0 ca.crt" prints it`;
      report({ path: caBundlePath, reason: 'FieldValueInvalid', message });
    }
  },
  example: {
    bad: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: 'bXktY2EK' } }),
    good: example({ annotations: {}, clientConfig: { service: exampleService, caBundle: exampleCaBundle } }),
  },
};
